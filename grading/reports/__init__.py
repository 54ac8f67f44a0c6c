"""What comes of the marks: pages for students, a summary and tables for instructors."""
