import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { layoutOf, websiteIn } from '../../embedded/host-folder/layout.ts';
import { phpRootsOf } from '../../embedded/wordpress/site.ts';
import { createOpenPlaces } from './open-places.ts';
import { startPhpProcess } from './php-process.ts';
import type { PhpSite } from './php-sites.ts';
import type { ProcessPlaces } from './process-place.ts';
import { type ProcessProgram, writeProcessProgram } from './process-program.ts';

const INSTALL = '0198a0e0-0000-7000-8000-000000000001';
let folder: string;
let program: ProcessProgram;
let places: ProcessPlaces;

const layout = () => layoutOf(join(folder, 'host'));

// As the server lays them out: the program is in the folder of the runtime, beside the websites.
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'php-')));
  const runtime = join(layout().php, 'one');
  await mkdir(runtime, { recursive: true });
  program = await writeProcessProgram(runtime);
  places = createOpenPlaces(runtime, program, phpRootsOf(layout()));
});

afterAll(async () => {
  await places.close();
  await rm(folder, { recursive: true, force: true });
});

it('runs PHP without bubblewrap, within Node permissions', async () => {
  const php = await startPhpProcess(await places.create(), {
    settings: { memoryMb: 256, uploadMb: 8, inputVars: 5_000, threadMb: 512 },
    waitMs: 100_000,
    mayConnect: () => false,
    loopbacks: { add() {} },
    loopback: () => undefined,
    deliverMail: async () => {},
    log: pino({ level: 'silent' }),
  });
  try {
    // They come to exist after the process.
    const core = layout().coreOf('6.9');
    const website = layout().filesOf(INSTALL);
    const own = join(website, '.private');
    for (const path of [core, join(own, 'tmp'), layout().databaseOf(INSTALL)])
      await mkdir(path, { recursive: true });
    await writeFile(join(core, 'index.php'), '<?php');
    const site: PhpSite = {
      id: 'one',
      core,
      website,
      private: own,
      database: layout().databaseOf(INSTALL),
      readOnly: {},
      prepend: '<?php',
      limits: { memoryMb: 256, seconds: 60, uploadMb: 8, inputVars: 5_000, threads: 1 },
    };
    const pattern = join(layout().golden, '6.9-2');
    const { files, database } = websiteIn(pattern);
    for (const path of [join(files, '.private'), database]) await mkdir(path, { recursive: true });
    await writeFile(join(files, 'page.txt'), 'page');
    await php.warmUp({
      pattern: { ...site, website: files, private: join(files, '.private'), database },
      code: `<?php exit(file_get_contents('page.txt') === 'page' && @file_put_contents('page.txt', '') === false ? 0 : 1);`,
      host: 'own.example',
      https: false,
    });
    await php.serve(site);
    const { output } = await php.run({
      code: `<?php file_put_contents('new.txt', 'text'); chmod('new.txt', 0600);
        echo json_encode([file_get_contents('new.txt'), file_exists('index.php'), @file_get_contents('/etc/passwd')]);`,
      host: 'own.example',
      https: false,
    });
    expect(JSON.parse(output)).toEqual(['text', true, false]);
  } finally {
    await php.kill();
  }
});

it('lets a process that PHP has left change neither its program nor the machine', async () => {
  const { coreOf, golden, making, filesOf, sshHostKey } = layout();
  for (const path of [coreOf('6.9'), making, filesOf(INSTALL)]) await mkdir(path, { recursive: true });
  await writeFile(sshHostKey, 'secret');
  const packages = join(program.folder, 'node_modules/@php-wasm');
  const probe = join(program.folder, 'code/probe.mjs');
  await writeFile(
    probe,
    `import { readFileSync, writeFileSync } from 'node:fs';
    const attempt = (act) => { try { act(); return 'done'; } catch ({ code }) { return code; } };
    const { read, write } = JSON.parse(process.argv[2]);
    const reads = read.map((path) => attempt(() => readFileSync(path)));
    // Appends nothing, so that a fault leaves the packages whole.
    const writes = write.map((path) => attempt(() => writeFileSync(path, '', { flag: 'a' })));
    console.log(JSON.stringify({ reads, writes }));`,
  );
  const place = await places.create();
  const attempts = {
    read: [join(packages, 'node-8-4/package.json'), sshHostKey],
    write: [
      join(filesOf(INSTALL), 'index.php'),
      join(making, 'new'),
      join(golden, 'new'),
      join(program.folder, program.entry),
      join(program.folder, 'code/new.mjs'),
      join(packages, 'node-8-4/package.json'),
      join(coreOf('6.9'), 'index.php'),
      join(layout().php, 'new'),
      sshHostKey,
    ],
  };
  const before = await readFile(join(program.folder, program.entry), 'utf8');
  const { stdout } = await runCommand(place.program.path, [
    ...place.program.arguments.slice(0, -1),
    probe,
    JSON.stringify(attempts),
  ]);
  const denied = 'ERR_ACCESS_DENIED';
  expect(JSON.parse(stdout)).toEqual({
    reads: ['done', denied],
    writes: ['done', 'done', denied, denied, denied, denied, denied, denied, denied],
  });
  expect(await readFile(join(program.folder, program.entry), 'utf8')).toBe(before);
  await place.remove();
});
