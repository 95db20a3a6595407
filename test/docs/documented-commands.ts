import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../cli/clone.ts';
import { begin, type Environment, type Running } from '../cli/run-homeport.ts';
import { freePort } from '../servers/free-port.ts';

/** The commands that start Homeport in a new clone. `.ci/npm-versions.mjs` runs them. */
export const FIRST_COMMANDS = 'git clone <this repository> homeport && cd homeport\nnpm ci && npm start\n';

/** The blocks of a page that readers run in their shell, in order, without the ones that start Homeport. */
export function commandsIn(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, block = '']) => block)
    .filter((block) => block !== FIRST_COMMANDS);
}

/** The text of a page from a heading to the next one of the same level. */
export function sectionOf(markdown: string, heading: string): string {
  const [, section] = markdown.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`the page has no section "${heading}"`);
  return section.split('\n## ')[0] ?? '';
}

/** A reader's folder, with a Homeport that runs there. */
export interface Reader {
  /** The folder of the clone. */
  folder: string;
  /** Runs blocks as one script, which ends at the first error. Resolves with what it printed. */
  follow(blocks: readonly string[]): Promise<{ status: number | null; output: string }>;
  close(): Promise<void>;
}

/**
 * Makes a folder like a clone and starts Homeport in it, on free ports. `follow` replaces the ports of the documents by those, and `/tmp` by a
 * folder of this reader.
 */
export async function startReader(changes: Environment = {}): Promise<Reader> {
  const base = mkdtempSync(join(tmpdir(), 'homeport-reader-'));
  const folder = join(base, 'homeport');
  mkdirSync(folder);
  for (const name of readdirSync(ROOT).filter((one) => !/^(data|dist|\.git$)/.test(one))) {
    symlinkSync(join(ROOT, name), join(folder, name));
  }
  const ports = { 8443: await freePort(), 8080: await freePort(), 2222: await freePort() };
  const environment: Environment = {
    HOMEPORT_DATA_DIR: join(folder, 'data'),
    HOMEPORT_LISTEN: `127.0.0.1:${ports[8443]}`,
    HOMEPORT_PUBLIC_URL: `https://localhost:${ports[8443]}`,
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${ports[8080]}`,
    HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
    HOMEPORT_SSH_LISTEN: `127.0.0.1:${ports[2222]}`,
    ...changes,
  };
  const home = join(base, 'home');
  makeHome(home);
  const server: Running = begin(environment, 'serve');
  await server.printed('Homeport is running');
  const asHere = (text: string) =>
    Object.entries(ports)
      .reduce((changed, [documented, port]) => changed.replaceAll(documented, `${port}`), text)
      .replaceAll('/tmp/', `${base}/`);
  return {
    folder,
    follow: (blocks) => {
      const script = `set -eo pipefail\n${blocks.map(asHere).join('\n')}`;
      const path = `${join(home, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
      return runScript(script, folder, { ...environment, HOME: home, PATH: path });
    },
    close: async () => {
      server.process.kill('SIGTERM');
      await server.ended;
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** A home with an SSH key. SSH reads the home of the user database, so its options name this one. */
function makeHome(home: string): void {
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, 'bin'));
  const options = `-o IdentityFile=${home}/.ssh/id_ed25519 -o UserKnownHostsFile=${home}/.ssh/known_hosts`;
  writeFileSync(join(home, 'bin/sftp'), `#!/bin/sh\nexec /usr/bin/sftp ${options} "$@"\n`);
  chmodSync(join(home, 'bin/sftp'), 0o755);
}

function runScript(
  script: string,
  cwd: string,
  env: Environment,
): Promise<{ status: number | null; output: string }> {
  const shell = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => shell.once('close', (status) => resolve({ status, output })));
}

export const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
