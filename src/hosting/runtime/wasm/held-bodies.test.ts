import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createHeldBodies } from './held-bodies.ts';

const MIB = 1024 * 1024;

function body(mib: number): PassThrough {
  const stream = new PassThrough();
  stream.end(Buffer.alloc(mib * MIB));
  return stream;
}

it('refuses a body beyond those that the process may hold, until one is released', async () => {
  const bodies = createHeldBodies({ uploadMb: 2 });
  const tooLarge = bodies.hold(body(3));
  const usual = bodies.hold(body(2));
  // The process itself refuses the larger one, and holds no more of it than the limit.
  expect((await buffer(tooLarge.stream)).length).toBe(3 * MIB);
  expect((await buffer(usual.stream)).length).toBe(2 * MIB);
  const refused = bodies.hold(body(1));
  await expect(buffer(refused.stream)).rejects.toThrow('too many large requests');
  expect(refused.refusal).toMatchObject({ reason: 'busy', retryAfter: 5 });
  refused.release();
  tooLarge.release();
  tooLarge.release();
  const next = bodies.hold(body(2));
  expect((await buffer(next.stream)).length).toBe(2 * MIB);
  expect(next.refusal).toBeNull();
  const another = bodies.hold(body(1));
  await expect(buffer(another.stream)).rejects.toThrow('too many large requests');
});
