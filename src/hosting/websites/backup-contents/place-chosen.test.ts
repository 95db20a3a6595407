import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RefusedRestoreError } from '../../contract/errors.ts';
import { choiceOf, chosenEntries, placeChosen, requirePlaceable, takeBackChosen } from './place-chosen.ts';

let base: string;
let placement: { staged: string; live: string; aside: string };

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'placed-'));
  placement = { staged: join(base, 'staged'), live: join(base, 'live'), aside: join(base, 'aside') };
  for (const folder of [placement.staged, placement.live]) mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true }));

function put(where: 'staged' | 'live', path: string, content: string): void {
  const file = join(placement[where], path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Files with their content, and folders and links. */
const seen = () =>
  execFileSync(
    'sh',
    [
      '-c',
      'find . | sort; find . -type f | sort | xargs -d "\\n" grep -H . ; find . -type l -printf "%p %l\\n"',
    ],
    {
      cwd: placement.live,
      encoding: 'utf8',
    },
  );

beforeEach(() => {
  put('live', 'index.php', 'now');
  put('live', 'uploads/new.jpg', 'uploaded since');
  put('live', 'uploads/a.jpg', 'changed');
  put('live', 'other/b.txt', 'untouched');
  put('staged', 'index.php', 'then');
  put('staged', 'uploads/a.jpg', 'as it was');
  put('staged', 'uploads/2026/c.jpg', 'deleted since');
  put('staged', 'other/b.txt', 'from the backup');
  symlinkSync('a.jpg', join(placement.staged, 'uploads/link'));
  chmodSync(join(placement.staged, 'uploads/2026'), 0o705);
});

describe('chosen files', () => {
  test('replace those of the same name and are added, and nothing else changes', async () => {
    const before = seen();
    const choice = choiceOf(['uploads', 'uploads/a.jpg', 'index.php']);
    await requirePlaceable(placement, choice, 'htdocs');
    expect(seen()).toBe(before);
    await placeChosen(placement, choice);
    expect(seen()).toContain('./index.php:then\n');
    expect(seen()).toContain('./uploads/a.jpg:as it was\n');
    expect(seen()).toContain('./uploads/2026/c.jpg:deleted since\n');
    expect(seen()).toContain('./uploads/new.jpg:uploaded since\n');
    expect(seen()).toContain('./other/b.txt:untouched\n');
    expect(seen()).toContain('./uploads/link a.jpg\n');
    const placed = seen();
    await placeChosen(placement, choice);
    expect(seen()).toBe(placed);
    await takeBackChosen(placement, choice);
    expect(seen()).toBe(before);
  });

  test('of a deep path bring the folders that are missing, with their modes', async () => {
    await placeChosen(placement, choiceOf(['uploads/2026/c.jpg']));
    expect(
      execFileSync('stat', ['-c', '%a', join(placement.live, 'uploads/2026')], { encoding: 'utf8' }),
    ).toBe('705\n');
    expect(readdirSync(join(placement.live, 'uploads')).sort()).toEqual(['2026', 'a.jpg', 'new.jpg']);
  });

  test.each([
    ['a folder', 'a file', 'index.php', () => mkdirSync(join(placement.live, 'index.php'))],
    ['a file', 'a folder', 'uploads', () => writeFileSync(join(placement.live, 'uploads'), 'x')],
    ['a link', 'a folder', 'uploads', () => symlinkSync('/tmp', join(placement.live, 'uploads'))],
  ])('are refused where %s is in the place of %s', async (present, restored, name, make) => {
    rmSync(join(placement.live, name), { recursive: true });
    make();
    const before = seen();
    const refused = requirePlaceable(placement, choiceOf(['index.php', 'uploads']), 'htdocs');
    await expect(refused).rejects.toBeInstanceOf(RefusedRestoreError);
    await expect(refused).rejects.toThrow(
      `"htdocs/${name}" is ${present} in the website and ${restored} in the backup.`,
    );
    // Nor does anything follow a link that comes later.
    if (present === 'a link') await expect(placeChosen(placement, choiceOf(['uploads']))).rejects.toThrow();
    await takeBackChosen(placement, choiceOf(['index.php', 'uploads'])).catch(() => {});
    expect(seen()).toBe(before);
  });

  test('come back as they were after an interruption between two files', async () => {
    const before = seen();
    const choice = choiceOf(['uploads', 'index.php', 'other']);
    // As a killed process leaves it: some files are placed.
    await placeChosen(placement, choiceOf(['uploads/a.jpg', 'uploads/2026']));
    writeFileSync(join(placement.aside, 'uploads/.homeport-restoring-4c1f6f1d'), 'half');
    await takeBackChosen(placement, choice);
    expect(seen()).toBe(before);
    await placeChosen(placement, choice);
    expect(seen()).toContain('./other/b.txt:from the backup\n');
    expect(seen()).not.toContain('.homeport');
  });

  test('need no name in the website that a tenant could take', async () => {
    const { live, aside } = placement;
    await placeChosen(placement, choiceOf(['uploads/a.jpg']));
    const names = readdirSync(join(aside, 'uploads'), { recursive: true });
    await takeBackChosen(placement, choiceOf(['uploads/a.jpg']));
    for (const name of ['.homeport-restoring', '.homeport-restoring-4c1f6f1d', '.homeport-new-4c1f6f1d']) {
      mkdirSync(join(live, 'uploads', name, 'full'), { recursive: true });
    }
    await placeChosen(placement, choiceOf(['uploads']));
    expect(seen()).toContain('./uploads/a.jpg:as it was\n');
    await takeBackChosen(placement, choiceOf(['uploads']));
    expect(seen()).toContain('./uploads/a.jpg:changed\n');
    expect(names).toEqual(['a.jpg']);
  });

  test('are looked up once, and without those inside of others', () => {
    const known = ['a', 'a/b', 'a/b/c', 'a-b', 'd/e'];
    const find = (path: string) =>
      known.includes(path)
        ? { path, type: 'file' as const, bytes: 1, modifiedAt: 1, target: null, place: 0, length: 1 }
        : null;
    const chosen = chosenEntries({ find }, ['a/b/c', 'd/e', 'a', 'a-b', 'a/b']);
    expect(chosen.map(({ path }) => path)).toEqual(['d/e', 'a', 'a-b']);
    expect(() => chosenEntries({ find }, ['a', 'a/none'])).toThrow(
      'The backup has no file or folder "a/none".',
    );
  });
});
