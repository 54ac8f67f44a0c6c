// Measure pages with Lighthouse as a phone would see them, one JSON object a line.
//
// Called by benchmarks/site.py with the folder where Lighthouse is installed, and on the standard
// input {chromium, runs, urls}. One browser serves all runs; Lighthouse empties its caches before
// each. A round goes over all pages, so that a disturbance of the machine meets them all alike.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.argv[2]}/`));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { default: lighthouse } = await load("lighthouse");
const { launch } = await load("chrome-launcher");

const { chromium, runs, urls } = JSON.parse(readFileSync(0, "utf8"));
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"];
const METRICS = {
  fcp: "first-contentful-paint",
  lcp: "largest-contentful-paint",
  tbt: "total-blocking-time",
  cls: "cumulative-layout-shift",
};

const failures = ({ categories, audits }) =>
  CATEGORIES.filter((name) => name !== "performance").flatMap((name) =>
    categories[name].auditRefs
      .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 1)
      .map(({ id }) => id));

// --no-sandbox because containers often run as root, where the sandbox refuses to start
const chrome = await launch({
  chromePath: chromium,
  chromeFlags: ["--headless=new", "--no-sandbox"],
  logLevel: "error",
});
try {
  for (let run = 0; run < runs; run++) {
    for (const url of urls) {
      const { lhr } = await lighthouse(url, {
        port: chrome.port,
        logLevel: "error",
        onlyCategories: CATEGORIES,
        disableFullPageScreenshot: true,
      });
      if (lhr.runtimeError) throw new Error(`${url}: ${lhr.runtimeError.message}`);
      const scores = Object.fromEntries(
        CATEGORIES.map((name) => [name, Math.round(100 * lhr.categories[name].score)]));
      const metrics = Object.fromEntries(
        Object.entries(METRICS).map(([name, id]) => [name, lhr.audits[id].numericValue]));
      const { lighthouseVersion: version, environment } = lhr;
      process.stdout.write(`${JSON.stringify({
        url, ...scores, ...metrics, failures: failures(lhr), version,
        index: environment.benchmarkIndex,
      })}\n`);
    }
  }
} finally {
  chrome.kill();
}
