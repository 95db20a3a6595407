import { FRAME, FRAME_HEAD_BYTES } from '../process-protocol.ts';

/** A part of the answer to a program. */
export function frame(kind: keyof typeof FRAME, content: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt8(FRAME[kind]);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}
