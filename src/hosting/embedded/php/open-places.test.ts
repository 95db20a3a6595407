import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createOpenPlaces } from './open-places.ts';
import { startPhpProcess } from './php-process.ts';
import { writeProcessProgram } from './process-program.ts';

it('runs PHP without bubblewrap, within Node permissions', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'php-')));
  const at = (name: string) => join(folder, 'site', name);
  for (const name of ['core', 'website', 'private/tmp']) await mkdir(at(name), { recursive: true });
  await writeFile(at('core/index.php'), '<?php');
  const program = await writeProcessProgram(folder);
  const places = createOpenPlaces(join(folder, 'run'), program, [join(folder, 'site')]);
  const php = await startPhpProcess(await places.create(), {
    settings: { memoryMb: 256, uploadMb: 8, threadMb: 512 },
    waitMs: 100_000,
    mayConnect: () => false,
    loopbacks: { add() {} },
    loopback: () => undefined,
    deliverMail: async () => {},
    log: pino({ level: 'silent' }),
  });
  try {
    await php.serve({
      id: 'one',
      core: at('core'),
      website: at('website'),
      private: at('private'),
      readOnly: {},
      prepend: '<?php',
      limits: { memoryMb: 256, seconds: 60, uploadMb: 8, threads: 1 },
    });
    const { output } = await php.run({
      code: `<?php file_put_contents('new.txt', 'text'); chmod('new.txt', 0600);
        echo json_encode([file_get_contents('new.txt'), scandir('.'), @file_get_contents('/etc/passwd')]);`,
      host: 'own.example',
      https: false,
    });
    expect(JSON.parse(output)).toEqual(['text', ['.', '..', 'index.php', 'new.txt'], false]);
  } finally {
    await php.kill();
    await places.close();
    await rm(folder, { recursive: true, force: true });
  }
});
