import { mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Logger } from 'pino';
import { messageOf } from '../lib/error-message.ts';
import { ifThere } from '../lib/if-there.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createS3Client } from '../network/object-storage/s3.ts';
import { withProgressTimeout } from '../network/object-storage/s3-progress.ts';
import { isShared } from './former-backup.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { BACKUP_NAME, type BackupStorage, beginningOf, type FilePlace, SHARED } from './storage.ts';

/** A bucket, and the prefix of the keys in it (empty, or without a slash at its end). */
export interface S3Place {
  endpoint: string;
  bucket: string;
  prefix: string;
  region: string;
}

export interface S3StorageOptions {
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** Folder for files on their way to the bucket; each is deleted once it is there. Made when needed. */
  staging: string;
  log: Logger;
}

/** S3 takes at most 10,000 parts of an object, each but the last at least 5 MiB. */
const PART_BYTES = 16 * 1024 * 1024;
const MOST_PARTS = 10_000;
const REQUEST_TIMEOUT_MS = 5 * 60_000;
const READ_TIMEOUT_MS = 60_000;

/**
 * Backups in a bucket, each under a separate prefix. The manifest is stored last and deleted first. Files that later backups may reuse are
 * under another prefix, because they can outlive the backup that stored them.
 */
export function createS3Storage(place: S3Place, options: S3StorageOptions): BackupStorage {
  const { bucket: Bucket, prefix } = place;
  const address = `${place.endpoint}/${[Bucket, prefix].filter((part) => part !== '').join('/')}`;
  const keyOf = (...parts: string[]) => [prefix, ...parts].filter((part) => part !== '').join('/');
  const keyOfFile = (name: string, { path, stored_in }: FilePlace) =>
    stored_in === undefined ? keyOf(name, path) : keyOf(SHARED, stored_in, path);
  let client: Promise<S3Client> | undefined;

  /** Sends a request with a time limit; what fails names the storage. */
  async function ask<Answer>(
    send: (
      client: S3Client,
      sdk: typeof import('@aws-sdk/client-s3'),
      abort: { abortSignal: AbortSignal },
    ) => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    client ??= createS3Client({ ...place, pathStyle: true, ...options }, place.region, true);
    const limit = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const abortSignal = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      return await send(await client, await import('@aws-sdk/client-s3'), { abortSignal });
    } catch (error) {
      signal?.throwIfAborted();
      throw new OperatorError(
        `The storage ${address} failed: ${nameOf(error)}. Check its address, its credentials and their rights.`,
        { cause: error },
      );
    }
  }

  /** Keys, with the sizes of their objects. */
  async function objectsBelow(below: string): Promise<Map<string, number>> {
    const objects = new Map<string, number>();
    for (let token: string | undefined, more = true; more; ) {
      const answer = await ask((s3, { ListObjectsV2Command }, abort) =>
        s3.send(new ListObjectsV2Command({ Bucket, Prefix: below, ContinuationToken: token }), abort),
      );
      for (const { Key, Size } of answer.Contents ?? []) if (Key !== undefined) objects.set(Key, Size ?? 0);
      token = answer.NextContinuationToken;
      more = token !== undefined;
    }
    return objects;
  }

  /** Keys of the files that backups share. Others may keep files below the same prefix, such as a platform with backups in `files`. */
  async function sharedKeys(): Promise<string[]> {
    const below = `${keyOf(SHARED)}/`;
    const keys = [...(await objectsBelow(below)).keys()];
    return keys.filter((key) => {
      const [name = '', ...path] = key.slice(below.length).split('/');
      return BACKUP_NAME.test(name) && isShared(path.join('/'));
    });
  }

  /** Names of all backups, complete or not. */
  async function names(): Promise<string[]> {
    const found: string[] = [];
    for (let token: string | undefined, more = true; more; ) {
      const answer = await ask((s3, { ListObjectsV2Command }, abort) =>
        s3.send(
          new ListObjectsV2Command({
            Bucket,
            Prefix: keyOf('homeport-'),
            Delimiter: '/',
            ContinuationToken: token,
          }),
          abort,
        ),
      );
      for (const { Prefix = '' } of answer.CommonPrefixes ?? []) {
        const name = Prefix.split('/').at(-2) ?? '';
        if (BACKUP_NAME.test(name)) found.push(name);
      }
      token = answer.NextContinuationToken;
      more = token !== undefined;
    }
    return found.sort();
  }

  async function isComplete(name: string): Promise<boolean> {
    const manifest = keyOf(name, MANIFEST_FILE);
    return (await objectsBelow(manifest)).has(manifest);
  }

  async function put(Key: string, Body: Buffer, signal?: AbortSignal): Promise<void> {
    await ask(
      (s3, { PutObjectCommand }, abort) => s3.send(new PutObjectCommand({ Bucket, Key, Body }), abort),
      signal,
    );
  }

  async function putInParts(Key: string, file: string, bytes: number, signal?: AbortSignal): Promise<void> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS));
    const { UploadId } = await ask(
      (s3, { CreateMultipartUploadCommand }, abort) =>
        s3.send(new CreateMultipartUploadCommand({ Bucket, Key }), abort),
      signal,
    );
    const upload = { Bucket, Key, UploadId };
    try {
      const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
      for await (const Body of partsOf(file, partBytes)) {
        const PartNumber = Parts.length + 1;
        const { ETag } = await ask(
          (s3, { UploadPartCommand }, abort) =>
            s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }), abort),
          signal,
        );
        Parts.push({ PartNumber, ETag });
      }
      await ask(
        (s3, { CompleteMultipartUploadCommand }, abort) =>
          s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), abort),
        signal,
      );
    } catch (error) {
      await ask((s3, { AbortMultipartUploadCommand }, abort) =>
        s3.send(new AbortMultipartUploadCommand(upload), abort),
      ).catch((err: unknown) =>
        options.log.warn({ err }, 'could not abort an upload; the storage keeps its parts'),
      );
      throw error;
    }
  }

  async function removeKeys(name: string): Promise<void> {
    const manifest = keyOf(name, MANIFEST_FILE);
    const others = await objectsBelow(`${keyOf(name)}/`);
    for (const key of new Set([manifest, ...others.keys()])) await removeKey(key);
  }

  async function removeKey(Key: string): Promise<void> {
    await ask((s3, { DeleteObjectCommand }, abort) =>
      s3.send(new DeleteObjectCommand({ Bucket, Key }), abort),
    );
  }

  return {
    address,
    async begin(name) {
      await mkdir(options.staging, { recursive: true, mode: 0o700 });
      const staging = await mkdtemp(join(options.staging, `.${name}.`));
      let shared: Promise<Map<string, number>> | undefined;
      return {
        async place(path) {
          const file = join(staging, path);
          await mkdir(dirname(file), { recursive: true, mode: 0o700 });
          return file;
        },
        async keep(path, bytes, { isShared, signal }) {
          const file = join(staging, path);
          const place: FilePlace = isShared ? { path, stored_in: name } : { path };
          const key = keyOfFile(name, place);
          if (bytes > PART_BYTES) await putInParts(key, file, bytes, signal);
          else for await (const part of partsOf(file, PART_BYTES)) await put(key, part, signal);
          if (bytes === 0) await put(key, Buffer.alloc(0), signal);
          await rm(file);
          return place;
        },
        async reuse(_backup, { path, stored_in, bytes }) {
          if (stored_in === undefined) return null;
          shared ??= objectsBelow(`${keyOf(SHARED)}/`);
          const place = { path, stored_in };
          if ((await shared).get(keyOfFile(name, place)) !== bytes) return null;
          await rm(join(staging, path), { force: true });
          return place;
        },
        async finish(manifest) {
          await put(keyOf(name, MANIFEST_FILE), Buffer.from(manifest));
          await rm(staging, { recursive: true, force: true });
        },
        async discard() {
          await rm(staging, { recursive: true, force: true });
          await removeKeys(name);
          for (const key of (await objectsBelow(`${keyOf(SHARED, name)}/`)).keys()) await removeKey(key);
        },
      };
    },
    async list() {
      const complete: string[] = [];
      for (const name of await names()) if (await isComplete(name)) complete.push(name);
      return complete;
    },
    async read(name, file, from = 0) {
      const { path } = file;
      const Key = keyOfFile(name, file);
      const range = from === 0 ? {} : { Range: `bytes=${from}-` };
      const answer = await ask((s3, { GetObjectCommand }, abort) =>
        s3.send(new GetObjectCommand({ Bucket, Key, ...range }), abort).catch((error: unknown) => {
          if (error instanceof Error && error.name === 'NoSuchKey') return null;
          throw error;
        }),
      );
      if (answer === null) return null;
      if (!(answer.Body instanceof Readable)) throw new TypeError('the S3 client gave no stream');
      return withProgressTimeout(answer.Body, READ_TIMEOUT_MS, (cause) => {
        return new OperatorError(`The storage ${address} stopped in the middle of ${path}. Try again.`, {
          cause,
        });
      });
    },
    remove: removeKeys,
    async removeUnfinished(before) {
      const removed: string[] = [];
      for (const entry of (await ifThere(readdir(options.staging))) ?? []) {
        const began = entry.startsWith('.') ? beginningOf(entry.slice(1).replace(/\.[^.]*$/, '')) : null;
        if (began !== null && began < before)
          await rm(join(options.staging, entry), { recursive: true, force: true });
      }
      for (const name of await names()) {
        const began = beginningOf(name);
        if (began === null || began >= before || (await isComplete(name))) continue;
        await removeKeys(name);
        removed.push(name);
      }
      return removed;
    },
    async removeUnused({ before, used }) {
      // Listed first: of a backup that begins later, no file is among them.
      const shared = await sharedKeys();
      const inUse = await used();
      if (inUse === null) return;
      // After that: a backup that is not among them may reuse what only a removed one has. Its first file is here before it chooses which
      // backup it reuses. One that begins later can only choose one of those that were read.
      for (const name of await names()) {
        const began = beginningOf(name);
        if (began !== null && began >= before && !inUse.backups.includes(name)) return;
      }
      const kept = new Set(inUse.files.map((file) => keyOfFile('', file)));
      for (const key of shared) if (!kept.has(key)) await removeKey(key);
    },
    close() {
      client?.then(
        (made) => made.destroy(),
        () => {},
      );
    },
  };
}

/** A file in pieces of that size, one in memory at a time. Small files take no more than they have. */
async function* partsOf(path: string, partBytes: number): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    for (let position = 0; position < size; ) {
      const part = Buffer.allocUnsafe(Math.min(partBytes, size - position));
      let filled = 0;
      while (filled < part.length) {
        const { bytesRead } = await file.read(part, filled, part.length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      if (filled === 0) return;
      position += filled;
      yield part.subarray(0, filled);
    }
  } finally {
    await file.close();
  }
}

/** The code of S3's answer, or why there was none. */
function nameOf(error: unknown): string {
  return error instanceof Error && error.name !== 'Error'
    ? `${error.name}: ${messageOf(error)}`
    : messageOf(error);
}
