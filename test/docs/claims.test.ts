import { expect, it } from 'vitest';
import { FOLLOWED, PROOFS, UNPROVED } from './claims.ts';
import { page } from './documented-commands.ts';

/** Commands of the shell blocks of a page, without comments, except those of sections that a test follows. */
function commandsOf(path: string): string[] {
  const sections = page(path).split(/\n(?=##+ )/);
  const isFollowed = (section: string) =>
    (FOLLOWED[path] ?? []).some(({ heading }) => new RegExp(`^##+ ${heading}\n`).test(section));
  return sections
    .filter((section) => !isFollowed(section))
    .flatMap((section) => [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)])
    .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '');
}

it.each(Object.keys(PROOFS))('every command of %s has a test, or is named as one without', (path) => {
  const proved = (PROOFS[path] ?? []).map(({ command }) => command);
  const listed = [...proved, ...(UNPROVED[path] ?? [])];
  expect(commandsOf(path).toSorted()).toEqual(listed.toSorted());
});

it.each(Object.keys(FOLLOWED))(
  'the sections of %s that are followed are there, and their tests name them',
  (path) => {
    for (const { heading, file } of FOLLOWED[path] ?? []) {
      expect(page(path)).toMatch(new RegExp(`^##+ ${heading}$`, 'm'));
      expect(page(file)).toContain(`'${heading}'`);
      expect(page(file)).toContain(`page('${path}')`);
    }
  },
);

it('every proof is there', () => {
  for (const { file, words } of Object.values(PROOFS).flat()) expect(page(file), file).toContain(words);
});
