import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { confirm } from './confirm.ts';

async function answering(answer: string): Promise<{ agreed: boolean; shown: string }> {
  const input = new PassThrough();
  const output = new PassThrough();
  input.end(answer);
  const agreed = await confirm('Replace it?', input, output);
  output.end();
  return { agreed, shown: await text(output) };
}

test.each(['y\n', 'Y\n', 'yes\n', ' YES \n'])('%j agrees', async (answer) => {
  expect(await answering(answer)).toEqual({ agreed: true, shown: 'Replace it? [y/N] ' });
});

test.each(['\n', 'n\n', 'yess\n', 'no, yes\n', ''])('%j does not', async (answer) => {
  expect((await answering(answer)).agreed).toBe(false);
});
