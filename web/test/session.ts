// Real sessions for the tests, and a page that is let into them.
import { test as base, expect, type Page } from "@playwright/test";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A session of hone in a folder of its own. */
export class Session {
  readonly dir = mkdtempSync(join(tmpdir(), "hone-page-"));
  private readonly env: NodeJS.ProcessEnv;
  private process: ChildProcess | undefined;
  private output = "";

  constructor(tiltfile: string, files: Record<string, string> = {}, env: NodeJS.ProcessEnv = {}) {
    this.env = { ...process.env, XDG_RUNTIME_DIR: this.dir, XDG_STATE_HOME: this.dir, XDG_CONFIG_HOME: this.dir, ...env };
    for (const [name, text] of Object.entries({ Tiltfile: tiltfile, ...files })) this.write(name, text);
  }

  write(name: string, text: string) {
    writeFileSync(join(this.dir, name), text);
  }

  remove(name: string) {
    rmSync(join(this.dir, name));
  }

  read(name: string): string {
    return readFileSync(join(this.dir, name), "utf8");
  }

  /** Starts the session, and returns when its page can be opened. */
  async start(port = 0, ...flags: string[]) {
    const child = spawn(this.binary, ["up", "--stream", "--port", String(port), ...flags], { cwd: this.dir, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    await new Promise<void>((done, failed) => {
      const take = (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-20_000); // a flood of lines must not fill the memory
        if (this.output.includes("Web page at ")) done();
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.on("exit", () => failed(new Error(`hone ended:\n${this.output}`)));
    });
  }

  get binary() {
    return process.env.HONE_TEST_BINARY ?? "";
  }

  /** Runs hone, and returns its output. */
  hone(...args: string[]): string {
    return execFileSync(this.binary, args, { cwd: this.dir, env: this.env, encoding: "utf8" }).trim();
  }

  ticket(...args: string[]): string {
    return this.hone("open", "--print", ...args);
  }

  get pid(): number {
    return this.process?.pid ?? 0;
  }

  /** Waits until something holds. */
  async until(holds: () => boolean, seconds = 60) {
    for (const end = Date.now() + seconds * 1000; !holds(); ) {
      if (Date.now() > end) throw new Error("it does not come true");
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  get port(): number {
    return Number(new URL(this.ticket()).port);
  }

  /** Waits until the session has ended by itself. */
  async ended() {
    const child = this.process;
    if (child && child.exitCode === null) await new Promise((done) => child.once("exit", done));
  }

  async stop() {
    const child = this.process;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await ended;
  }

  async close() {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A way to a session that can be cut and mended. */
export class Cable {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private cutOff = false;

  constructor(to: number) {
    this.server = createServer((from) => {
      if (this.cutOff) return void from.destroy();
      const there = connect(to, "127.0.0.1");
      for (const [a, b] of [
        [from, there],
        [there, from],
      ] as const) {
        this.sockets.add(a);
        a.on("error", () => b.destroy());
        a.on("close", () => (this.sockets.delete(a), b.destroy()));
        a.pipe(b);
      }
    });
  }

  async open(): Promise<number> {
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    return (this.server.address() as AddressInfo).port;
  }

  cut() {
    this.cutOff = true;
    for (const s of this.sockets) s.destroy();
  }

  mend() {
    this.cutOff = false;
  }

  close() {
    this.cut();
    this.server.close();
  }
}

const shop = `
load('ext://uibutton', 'cmd_button', 'text_input', 'choice_input', 'bool_input', 'location')
config.define_string_list('only')
only = config.parse().get('only', [])
for name, label in [('gateway', 'backend'), ('api', 'backend'), ('web', 'frontend'), ('docs', '')]:
    local_resource(name, cmd='echo building ' + name, serve_cmd='echo ready; exec sleep 100000', labels=[label] if label else [],
                   links=['http://localhost:3999/' + name], deps=['src'])
local_resource('mailer', cmd='cat mailer.txt; test -f fixed || { echo "no such host: smtp" >&2; exit 3; }', labels=['backend'])
local_resource('e2e', cmd='echo tested', resource_deps=['mailer'], labels=['frontend'])
local_resource('seed', cmd='echo seeded', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
local_resource('saved', cmd='cat saved.txt; sleep 0.05', deps=['saved.txt'])
local_resource('ticks', serve_cmd='sh ticks.sh', labels=['frontend'])
cmd_button('again', argv=['sh', '-c', 'echo "again: $NAME $SIZE $DRY $TOKEN"'], resource='docs', text='do again', inputs=[
    text_input('NAME', label='whose', default='ada'), choice_input('SIZE', choices=['small', 'large']), bool_input('DRY', default=False, true_string='dry', false_string='wet')])
cmd_button('everything', argv=['echo', 'all caches are clear'], location=location.NAV, text='clear caches', requires_confirmation=True)
local_resource('flood', cmd='sh flood.sh', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
`;

const flood = `
i=0
while [ $i -lt 20 ]; do
  seq -f 'line %.0f <b>bold?</b> <img src=x onerror="document.title=1">' $((i * 1000 + 1)) $((i * 1000 + 1000))
  i=$((i + 1))
done
printf '\\033[31mred\\033[0m plain \\033]0;title\\007\\033[2J\\033[1;1H<script>alert(1)</script> http://localhost:3999/x?y=<z>\\n'
printf '\\033]8;;javascript:alert(1)\\033\\\\click\\033]8;;\\033\\\\ \\033[?1049h done\\n'
`;

const ticks = `
n=0
while true; do
  n=$((n + 1))
  printf '{"level":"info","msg":"tick","n":%d,"user":{"id":7,"name":"ada"}}\\n' $n
  sleep 1
done
`;

interface Fixtures {
  /** Fails the test for errors of the page, and for what its policy forbids. */
  watched: void;
}

export const test = base.extend<Fixtures, { session: Session }>({
  session: [
    async ({}, use) => {
      const s = new Session(shop, { "flood.sh": flood, "ticks.sh": ticks, "mailer.txt": "connecting\n", "saved.txt": "first\n" });
      await s.start();
      await use(s);
      await s.close();
    },
    { scope: "worker" },
  ],
  watched: [
    async ({ page }, use) => {
      const faults: string[] = [];
      page.on("pageerror", (e) => faults.push(e.message));
      page.on("console", (m) => {
        // A cut connection and a refusal are what some tests are about.
        if (m.type() === "error" && !/Failed to load resource/.test(m.text())) faults.push(m.text());
      });
      page.on("dialog", (d) => {
        faults.push(`dialog: ${d.message()}`);
        void d.dismiss();
      });
      await use();
      expect(faults).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** The row of a resource in the overview. */
export function row(page: Page, name: string) {
  return page.locator("tr.row", { has: page.locator(`a[data-name="${name}"]`) });
}
