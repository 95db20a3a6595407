import { expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { startWordPress } from './wordpress-start.ts';

const READY = { wordpress: '6.9', php: '8.4' };

async function started(
  prepare: Parameters<typeof startWordPress>[0],
  { first = true, isTTY = true } = {},
): Promise<{ ready: boolean; progress: string; result: string }> {
  const written = { progress: '', result: '' };
  const ready = await startWordPress(prepare, {
    first,
    clock: manualClock(new Date()),
    progress: { isTTY, write: (text) => (written.progress += text) },
    result: { write: (text) => (written.result += text) },
  });
  return { ready, ...written };
}

test('the first start says that WordPress is ready, and later ones nothing', async () => {
  expect(await started(async () => READY)).toEqual({
    ready: true,
    progress: '\r\u001b[2K',
    result: 'WordPress 6.9 with PHP 8.4 is ready for new installs.\n',
  });
  expect((await started(async () => READY, { first: false })).result).toBe('');
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
