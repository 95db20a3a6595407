import { expect, it } from 'vitest';
import { frame } from './process/frames.ts';
import { readProgramAnswer } from './program-answer.ts';

async function read(bytes: Buffer, size: number) {
  const written: string[] = [];
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const exit = await readProgramAnswer(chunks(), {
    stdout: (chunk) => void written.push(`out ${chunk}`),
    stderr: (chunk) => void written.push(`err ${chunk}`),
  });
  return { exit, written };
}

it.each([1, 3, 1_000])('reads an answer in chunks of %i bytes', async (size) => {
  const out = frame('stdout', Buffer.from('text'));
  const err = frame('stderr', Buffer.from('warning'));
  const whole = Buffer.concat([out, err, frame('exit', Buffer.from('7'))]);
  expect(await read(whole, size)).toEqual({ exit: 7, written: ['out text', 'err warning'] });
  const failed = Buffer.concat([out, frame('failure', Buffer.from('PHP crashed'))]);
  expect(await read(failed, size)).toEqual({
    exit: 255,
    written: ['out text', 'err \nError: PHP crashed\n'],
  });
});

it('refuses an answer that ends early', async () => {
  await expect(read(frame('stdout', Buffer.from('text')), 4)).rejects.toMatchObject({ reason: 'failed' });
});
