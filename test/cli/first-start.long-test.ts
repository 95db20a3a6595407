import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has } from '../missing-programs.ts';
import { freePort } from '../servers/free-port.ts';
import { linkPackages, makeClone } from './clone.ts';
import { run } from './run-homeport.ts';

describe.skipIf(!has('script'))('npm start in a new clone, on a terminal', () => {
  let base: string;
  let clone: string;
  let dataDir: string;
  let environment: Record<string, string>;
  let terminal: ChildProcess;
  /** The output on the terminal, with its control characters. */
  let printed = '';
  const readers = new Set<() => void>();

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'homeport-first-'));
    clone = join(base, 'clone');
    dataDir = join(base, 'data');
    makeClone(clone);
    linkPackages(clone);
    const port = await freePort();
    environment = {
      HOMEPORT_DATA_DIR: dataDir,
      HOMEPORT_LISTEN: `127.0.0.1:${port}`,
      HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
      HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
      HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
      HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
      HOMEPORT_EMBEDDED_PHP_MB: '0',
    };
    const { scripts } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    terminal = spawn('script', ['--quiet', '--return', '--flush', '--command', scripts.start, '/dev/null'], {
      cwd: clone,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: base,
        TERM: 'xterm-256color',
        ...environment,
      },
    });
    terminal.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      for (const reader of readers) reader();
    });
  });
  afterAll(async () => {
    if (terminal.exitCode === null) {
      terminal.kill('SIGKILL');
      await once(terminal, 'close');
    }
    rmSync(base, { recursive: true, force: true });
  });

  /** Waits until the terminal has shown a text. */
  async function shown(text: string): Promise<void> {
    if (printed.includes(text)) return;
    let look = () => {};
    const seen = new Promise<void>((resolve) => {
      look = () => printed.includes(text) && resolve();
    });
    readers.add(look);
    const ended = once(terminal, 'exit').then(() => Promise.reject(new Error(`it ended:\n${printed}`)));
    await Promise.race([seen, ended]);
    readers.delete(look);
  }

  const lines = () =>
    stripVTControlCharacters(printed)
      .split(/[\r\n]+/)
      .filter((line) => line.trim() !== '');

  it('says at once that it starts, and that it builds, and ends with the credentials', async () => {
    await shown('Delete the file after reading it.');
    expect(lines()[0]).toBe('Homeport is starting: 0 s');
    const steps = [
      'Homeport is starting.',
      'Homeport is running',
      'Ctrl-C ends it.',
      'Building the portal, once after each update: 0 s',
      'The portal was built.',
      'Set your password for the portal (the link works once, for 7 days)',
      'Your credentials for the API (shown only now)',
    ];
    expect(lines().filter((line) => steps.includes(line))).toEqual(steps);
    expect(lines().at(-1)).toContain(join(dataDir, 'first-sign-in.txt'));
  });

  it('writes the same secrets into a file for this user alone', () => {
    const file = join(dataDir, 'first-sign-in.txt');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file, 'utf8');
    expect(kept).toBe(stripVTControlCharacters(kept));
    const [password = ''] = /^ {2}Password .*$/m.exec(kept) ?? [];
    expect(lines()).toContain(password);
  });

  it('shows neither logs of jobs, nor JSON, nor stacks', async () => {
    const before = printed;
    const made = await run(environment, 'install', 'create', 'shop', '--runtime', 'static', '--json');
    expect(made).toMatchObject({ code: 0 });
    expect(printed).toBe(before);
    expect(printed).not.toMatch(/INFO|\{"|^ +at /m);
  });

  it('ends at Ctrl-C', async () => {
    const ended = once(terminal, 'exit');
    terminal.stdin?.write('\u0003');
    expect(await ended).toEqual([0, null]);
    expect(printed).toContain('finishing running requests and jobs');
  });
});
