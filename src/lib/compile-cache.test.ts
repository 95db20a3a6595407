import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from './run-command.ts';

const PROGRAM = `
  import { enableCompileCache, getCompileCacheDir } from 'node:module';
  import { Worker } from 'node:worker_threads';
  enableCompileCache(process.argv[1]);
  const { threadEnvironment } = await import(process.argv[2]);
  const thread = \`import { parentPort } from 'node:worker_threads';
    import { getCompileCacheDir } from 'node:module';
    parentPort.postMessage(getCompileCacheDir());\`;
  const worker = new Worker(thread, { eval: true, env: threadEnvironment() });
  worker.on('message', (used) => console.log(JSON.stringify([getCompileCacheDir(), used])));
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a thread uses the cache of compiled modules of its process', async () => {
  const module = new URL('./compile-cache.ts', import.meta.url).href;
  const { stdout } = await runCommand(process.execPath, [
    '--input-type=module',
    '--eval',
    PROGRAM,
    folder,
    module,
  ]);
  const [ofProcess, ofThread]: string[] = JSON.parse(stdout);
  expect(ofThread).toBe(ofProcess);
  expect(ofThread).toContain(folder);
});
