import { once } from 'node:events';
import { expect, it } from 'vitest';
import { compressing, MOST_COMPRESSORS, streamCodingOf } from './compressed-stream.ts';

it('compresses a limited number of answers at once, and sends the others as they are', async () => {
  const answers = Array.from({ length: MOST_COMPRESSORS }, () => {
    expect(streamCodingOf(['br', 'gzip'])).toBe('gzip');
    return compressing('gzip');
  });
  expect(streamCodingOf(['br', 'gzip'])).toBeNull();
  const [[, first] = []] = answers;
  first?.destroy();
  if (first !== undefined) await once(first, 'close');
  expect(streamCodingOf(['zstd'])).toBe('zstd');
  await Promise.all(
    answers.flat().map(async (stream) => {
      if (stream.closed) return;
      stream.destroy();
      await once(stream, 'close');
    }),
  );
});
