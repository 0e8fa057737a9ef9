// Measures the page in Chromium, on sessions of its own: what it loads, how soon it shows everything, what it costs at rest and in a
// flood of log lines. Each figure is a line of JSON in the file that HONE_BENCH_OUT names; make bench prints them.
import { test, type CDPSession, type Page } from "@playwright/test";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { Session } from "../test/session";

interface Figure {
  what: string;
  figure: string;
  ratio?: string;
}

function report(f: Figure) {
  appendFileSync(process.env.HONE_BENCH_OUT ?? "/dev/stdout", `${JSON.stringify(f)}\n`);
}

const rows = 1000;
const many = `
for i in range(${rows - 2}):
    local_resource('svc%d' % i, cmd='true', labels=['group%d' % (i % 20)], allow_parallel=True)
local_resource('flood', serve_cmd='exec perl flood.pl 20000', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
local_resource('burst', cmd='exec perl flood.pl 0 5000000', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
`;

/** Writes a number of lines in each second, or that many as fast as it can. */
const flood = `
use Time::HiRes qw(sleep time);
my ($rate, $most) = @ARGV;
$| = $rate > 0;
my $n = 0;
my $began = time;
while (!$most || $n < $most) {
  my $to = $rate ? int((time - $began) * $rate) : $n + 1000;
  my $out = '';
  for (; $n < $to; $n++) { $out .= "line $n: GET /api/v1/orders/$n 200 in 12 ms, user 4711\\n"; }
  print $out;
  sleep(0.02) if $rate;
}
`;

const ms = (n: number) => (n < 10 ? `${n.toFixed(1)} ms` : n < 1000 ? `${Math.round(n)} ms` : `${(n / 1000).toFixed(2)} s`);
const kb = (n: number) => `${(n / 1000).toFixed(1)} KB`;
const at = (list: number[], share: number) => [...list].sort((a, b) => a - b)[Math.min(Math.floor(share * list.length), list.length - 1)] ?? 0;
const times = (a: number, b: number, of: string) => `${(a / b).toFixed(a / b < 10 ? 1 : 0)}× ${of}`;
const rest = (n: number) => new Promise((done) => setTimeout(done, n));

/** The time of the processor that a process and its children have used, in seconds. */
function used(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** How long it takes from a key until what it does is on the screen. */
async function inputs(page: Page, n: number, keys: string[]): Promise<number[]> {
  await page.evaluate(() => {
    const took: number[] = [];
    (window as unknown as { took: number[] }).took = took;
    // The frame after the key is drawn when the message after its animation frame arrives.
    document.addEventListener(
      "keydown",
      (e) =>
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => took.push(performance.now() - e.timeStamp);
          channel.port2.postMessage(0);
        }),
      true,
    );
  });
  for (let i = 0; i < n; i++) {
    await page.keyboard.press(keys[i % keys.length] ?? "j");
    await rest(35);
  }
  await rest(300);
  return page.evaluate(() => (window as unknown as { took: number[] }).took);
}

async function heap(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find((m) => m.name === "JSHeapUsedSize")?.value ?? 0;
}

test("the page", async ({ browser }) => {
  const dist = join(import.meta.dirname, "../dist");
  const sizes = ["page.js", "page.css", "index.html"].map((name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length);
  report({ what: "compressed: script; style and page", figure: `${kb(sizes[0] ?? 0)}; ${kb((sizes[1] ?? 0) + (sizes[2] ?? 0))}`, ratio: times(sizes[0] ?? 0, 150_000, "the bound of 150 KB") });

  const session = new Session(many, { "flood.pl": flood });
  await session.start();
  try {
    await session.until(() => session.hone("get", "uiresources", "-o", "name").split("\n").length > rows - 2);
    await session.until(() => !/pending|in_progress/.test(session.hone("get", "uiresource", `svc${rows - 3}`, "-o", "jsonpath={.status.updateStatus}")));
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();

    // Loading.
    await page.addInitScript((want) => {
      const watch = new MutationObserver(() => {
        if (document.querySelectorAll("tr.row").length >= want) {
          watch.disconnect();
          requestAnimationFrame(() => setTimeout(() => ((window as unknown as { all: number }).all = performance.now())));
        }
      });
      watch.observe(document, { childList: true, subtree: true });
    }, rows - 1);
    await page.goto(session.ticket());
    const first: number[] = [];
    const all: number[] = [];
    const bare: number[] = [];
    const painted = () => page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
    for (let i = 0; i < 7; i++) {
      await page.reload();
      await page.waitForFunction(() => (window as unknown as { all?: number }).all);
      first.push(await painted());
      all.push(await page.evaluate(() => (window as unknown as { all: number }).all));
    }
    const stranger = await browser.newContext(); // sees a page without style and script
    const outside = await stranger.newPage();
    for (let i = 0; i < 7; i++) {
      await outside.goto(`http://127.0.0.1:${session.port}/`);
      await rest(100);
      bare.push(await outside.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    }
    await stranger.close();
    report({ what: "first paint", figure: ms(at(first, 0.5)), ratio: times(at(first, 0.5), at(bare, 0.5), "a page of text") });
    report({ what: `until ${rows.toLocaleString("en")} resources show`, figure: ms(at(all, 0.5)), ratio: times(at(all, 0.5), at(first, 0.5), "first paint") });

    // At rest.
    const cdp = await context.newCDPSession(page);
    await cdp.send("Network.enable");
    await cdp.send("Performance.enable");
    let received = 0;
    cdp.on("Network.dataReceived", (e) => (received += e.encodedDataLength || e.dataLength));
    await rest(2000);
    received = 0;
    const before = used(session.pid);
    await rest(10_000);
    report({ what: "at rest, 1 page: bytes; CPU of hone", figure: `${(received / 10).toFixed(0)} B/s; ${((used(session.pid) - before) * 10).toFixed(1)} %` });
    const idle = await inputs(page, 60, ["j", "j", "k"]);

    // In a flood of 20,000 lines a second.
    session.hone("trigger", "flood");
    await rest(3000);
    const cpu = async () => {
      const from = used(session.pid);
      await rest(5000);
      return (used(session.pid) - from) * 20;
    };
    await page.evaluate(() => (location.hash = "#/"));
    const table = await inputs(page, 80, ["j", "j", "k"]);
    report({ what: "in the flood, key to paint: p50, p95", figure: `${ms(at(table, 0.5))}, ${ms(at(table, 0.95))}`, ratio: times(at(table, 0.95), at(idle, 0.95), "without the flood") });
    await page.evaluate(() => (location.hash = "#/r/flood"));
    await page.locator(".line").first().waitFor();
    const log = await inputs(page, 80, ["W", "i", "W", "i"]);
    report({ what: "the same in its log", figure: `${ms(at(log, 0.5))}, ${ms(at(log, 0.95))}`, ratio: times(at(log, 0.95), at(idle, 0.95), "the table at rest") });
    const one = await cpu();
    await page.evaluate(() => (location.hash = "#/"));
    const none = await cpu();
    await page.evaluate(() => (location.hash = "#/r/flood"));
    const others: Page[] = [];
    for (let i = 0; i < 9; i++) {
      const other = await context.newPage();
      await other.goto(`http://127.0.0.1:${session.port}/#/r/flood`);
      others.push(other);
    }
    const ten = await cpu();
    report({ what: "CPU of hone, 0, 1, 10 pages show it", figure: `${none.toFixed(0)}, ${one.toFixed(0)}, ${ten.toFixed(0)} %`, ratio: times(ten, one, "that of 1") });
    for (const other of others) await other.close();
    session.hone("disable", "flood");

    // 5 million lines.
    await page.evaluate(() => (location.hash = "#/r/burst"));
    await page.getByRole("heading", { level: 1 }).waitFor();
    const small = await heap(cdp);
    session.hone("trigger", "burst");
    const began = Date.now();
    await session.until(() => /ok|error/.test(session.hone("get", "uiresource", "burst", "-o", "jsonpath={.status.updateStatus}")), 300);
    await rest(1000);
    const elements = await page.locator(".line").count();
    const foot = (await page.locator(".foot").textContent()) ?? "";
    const counted = [...foot.matchAll(/[\d,]+/g)].reduce((sum, m) => sum + Number(m[0].replace(/,/g, "")), 0);
    if (counted < 5_000_000) throw new Error(`the log has ${foot}`);
    const large = await heap(cdp);
    report({ what: `tab after 5 million lines (${((Date.now() - began) / 1000).toFixed(0)} s)`, figure: `${kb(small)} → ${kb(large)}, ${elements} lines in the page`, ratio: times(large, small, "before") });
    await context.close();
  } finally {
    await session.close();
  }
});
