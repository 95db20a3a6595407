import { expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { startWordPress } from './wordpress-start.ts';

const READY = {
  wordpress: '6.9',
  php: { version: '8.4', engine: 'machine', notMachine: null } as const,
};

async function started(
  prepare: Parameters<typeof startWordPress>[0],
  { first = true, isTTY = true, attempts = 1, stopping = new AbortController().signal } = {},
): Promise<{ ready: boolean; progress: string; result: string }> {
  const written = { progress: '', result: '' };
  const ready = await startWordPress(prepare, {
    first,
    attempts,
    stopping,
    clock: manualClock(new Date()),
    progress: { isTTY, write: (text) => (written.progress += text) },
    result: { write: (text) => (written.result += text) },
  });
  return { ready, ...written };
}

test('the first start says that WordPress is ready, and each which PHP runs it', async () => {
  expect(await started(async () => READY)).toEqual({
    ready: true,
    progress: '\r\u001b[2K',
    result:
      'WordPress 6.9 is ready for new installs.\nWebsites run PHP 8.4 of this machine.\n' +
      'Create one in the portal, or with: homeport install create shop\n',
  });
  expect((await started(async () => READY, { first: false })).result).toBe(
    'Websites run PHP 8.4 of this machine.\n',
  );
  const php = { version: '8.4', engine: 'wasm', notMachine: 'PHP-FPM is not installed' } as const;
  expect((await started(async () => ({ ...READY, php }), { first: false })).result).toBe(
    'Websites run PHP 8.4 as WebAssembly. They do not use the PHP of this machine: PHP-FPM is not installed.\n',
  );
});

test('a download shows its progress', async () => {
  const shown = await started(
    async (report) => {
      report?.(3 * 1024 * 1024, 27 * 1024 * 1024);
      return READY;
    },
    { first: false },
  );
  expect(shown.progress).toContain('Downloading WordPress: 3 of 27 MiB');
  expect(shown.result).toContain('WordPress 6.9');
});

test('a machine without WordPress hears once why', async () => {
  const reason = 'This machine cannot run PHP: the packages are missing';
  const refused = async () => ({ reason });
  expect(await started(refused)).toMatchObject({
    ready: false,
    result: `WordPress cannot run here yet. ${reason}. Static websites work.\n`,
  });
  expect((await started(refused, { first: false })).result).toBe('');
});

test('a failure that may pass is tried again', async () => {
  const failures = [
    async () => Promise.reject(new Error('install.php took too long')),
    async () => ({ reason: 'PHP did not start.', mayPass: true }),
  ];
  const shown = await started(async () => (await failures.shift()?.()) ?? READY, { attempts: 3 });
  expect(shown).toMatchObject({
    ready: true,
    result: [
      'WordPress cannot run here yet. install.php took too long. Homeport tries again.\n',
      'WordPress cannot run here yet. PHP did not start. Homeport tries again.\n',
      'WordPress 6.9 is ready for new installs.\n',
      'Websites run PHP 8.4 of this machine.\n',
      'Create one in the portal, or with: homeport install create shop\n',
    ].join(''),
  });
});

test('a failure that lasts is not tried again, and no attempt follows the last', async () => {
  let calls = 0;
  const failing = (mayPass: boolean) => async () => {
    calls += 1;
    return { reason: 'No', mayPass };
  };
  expect((await started(failing(false), { attempts: 3 })).result).toContain('No. Static websites work.');
  expect(calls).toBe(1);
  expect((await started(failing(true), { attempts: 3 })).ready).toBe(false);
  expect(calls).toBe(4);
});

test('an exception reaches the terminal and the caller, but not while the server stops', async () => {
  const written: string[] = [];
  const failing = (stopping: AbortSignal) =>
    startWordPress(() => Promise.reject(new Error('The disk is full')), {
      first: true,
      attempts: 2,
      stopping,
      clock: manualClock(new Date()),
      progress: { write: () => true },
      result: { write: (text) => written.push(text) },
    });
  await expect(failing(AbortSignal.abort())).rejects.toThrow('The disk is full');
  expect(written).toEqual([]);
  await expect(failing(new AbortController().signal)).rejects.toThrow('The disk is full');
  expect(written).toEqual([
    'WordPress cannot run here yet. The disk is full. Homeport tries again.\n',
    'WordPress cannot run here yet. The disk is full. Static websites work.\n',
  ]);
});
