import { expect, test } from 'vitest';
import { commandsIn, FIRST_COMMANDS, page, type Reader, startReader } from './documented-commands.ts';

/** Readers follow a page from its first command to its last one, with WordPress. */
async function followed(path: string): Promise<string> {
  const reader: Reader = await startReader();
  try {
    const { status, output } = await reader.follow(commandsIn(page(path)));
    expect(status, output).toBe(0);
    return output;
  } finally {
    await reader.close();
  }
}

test('the tutorial for agencies ends with the page that was deleted, and a checked domain', async () => {
  const path = 'docs/tutorials/agency.md';
  expect(page(path)).toContain(FIRST_COMMANDS);
  expect(page('README.md')).toContain(FIRST_COMMANDS);
  const output = await followed(path);
  expect(output).toContain('Coffee by the water');
  expect(output).toContain('harbour-cafe.example');
});

test('the tutorial for developers ends with a backup made by its program', async () => {
  const output = await followed('docs/tutorials/client.md');
  expect(output).toMatch(/^succeeded$/m);
});
