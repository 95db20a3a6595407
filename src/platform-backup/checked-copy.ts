import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type BackedUpFile, DamagedBackup } from './manifest.ts';
import { type BackupStorage, SHARED } from './storage.ts';

/** Copies a file into a new one, readable by its owner alone. */
export async function copyFileTo(from: string, to: string, signal?: AbortSignal): Promise<void> {
  await pipeline(createReadStream(from), createWriteStream(to, { flags: 'wx', mode: 0o600 }), { signal });
}

/** Size and SHA-256 of a file. */
export async function measure(
  file: string,
  signal?: AbortSignal,
): Promise<{ bytes: number; sha256: string }> {
  const meter = createMeter();
  await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), meter.stream, drain, { signal });
  return meter.read();
}

/** Reads a file of a backup to its end, into the new file `to` if that is given. Throws DamagedBackup unless it is what the manifest says. */
export async function readChecked(
  storage: BackupStorage,
  name: string,
  file: BackedUpFile,
  { to, signal }: { to?: string; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { path, bytes, sha256 } = file;
  const content: Readable | null = await storage.read(name, file);
  if (content === null) {
    const place = file.stored_in === undefined ? path : `${SHARED}/${file.stored_in}/${path}`;
    throw new DamagedBackup(`${name} is damaged: ${place} is missing.`);
  }
  const meter = createMeter();
  if (to === undefined) await pipeline(content, meter.stream, drain, { signal });
  else
    await pipeline(content, meter.stream, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }), {
      signal,
    });
  const read = meter.read();
  if (read.bytes !== bytes) {
    throw new DamagedBackup(`${name} is damaged: ${path} has ${read.bytes} bytes and should have ${bytes}.`);
  }
  if (read.sha256 !== sha256)
    throw new DamagedBackup(`${name} is damaged: ${path} does not have its checksum.`);
}

function createMeter(): { stream: Transform; read(): { bytes: number; sha256: string } } {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { stream, read: () => ({ bytes, sha256: hash.digest('hex') }) };
}

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _chunk of chunks);
}
