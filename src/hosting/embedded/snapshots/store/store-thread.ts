import { parentPort } from 'node:worker_threads';
import { codeOf } from '../../../../lib/error-code.ts';
import { capture } from './capture.ts';
import { decodeChunks, encodeChunks } from './chunk-list.ts';
import { type ChunkStore, createChunkStore } from './chunk-store.ts';
import { DamagedListError } from './manifest-chunks.ts';
import { measureFolder } from './measure-folder.ts';
import { DamagedPackError } from './pack-file.ts';
import type { StoreAnswer, StoreCall, StoreFailure, StoreOpening, StoreReply } from './store-calls.ts';
import { giveWay } from './store-priority.ts';
import { takeFiles } from './taken-files.ts';

/** The thread of store.ts: hashes, compresses and reads the chunks of one store at a time. Answers each call, in order. */
let opened: { folder: string; store: ChunkStore } | null = null;
giveWay();

const NOTHING = { bytes: new Uint8Array(0), count: 0 };

const asJson = (value: object | null): StoreAnswer => ({
  bytes: new TextEncoder().encode(JSON.stringify(value)),
  count: 0,
});

function answer(call: StoreCall): StoreAnswer {
  if (opened === null) throw new Error('the thread has no store');
  const { folder, store } = opened;
  switch (call.op) {
    case 'add': {
      let at = 0;
      const chunks = call.lengths.map((length) => {
        at += length;
        return store.add(call.bytes.subarray(at - length, at));
      });
      return { bytes: encodeChunks(chunks), count: chunks.length };
    }
    case 'measure':
      return asJson(measureFolder(call.folder, call.limits));
    case 'take':
      return asJson(takeFiles(call.files, call.seenMs, store));
    case 'push':
      store.push(call.bytes, call.isDatabase);
      return NOTHING;
    case 'end': {
      const chunks = store.end();
      return { bytes: encodeChunks(chunks), count: chunks.length };
    }
    case 'finish':
      return { ...NOTHING, count: store.finish() };
    case 'check':
      return { ...NOTHING, count: store.check(call.manifest, call.isThorough) };
    case 'read':
      return { bytes: store.read(decodeChunks(Buffer.from(call.chunks))), count: 0 };
    case 'write':
      store.writeFiles(call.files, call.sync);
      return NOTHING;
    case 'prune':
      return asJson(store.prune(call.manifests, call.mayRewrite));
    case 'used':
      return asJson(store.usedPacks());
    case 'capture':
      return { ...NOTHING, count: capture(folder, call).length };
    case 'close':
      store.close();
      opened = null;
      return NOTHING;
  }
}

function failureOf(error: unknown): StoreFailure {
  if (!(error instanceof Error)) return { message: String(error), isDamage: false, stack: '' };
  const isDamage = error instanceof DamagedPackError || error instanceof DamagedListError;
  const code = codeOf(error);
  return {
    message: error.message,
    isDamage,
    stack: error.stack ?? '',
    ...(code === undefined ? {} : { code }),
  };
}

parentPort?.on('message', (call: StoreCall | StoreOpening) => {
  if (call.op === 'open') {
    opened = { folder: call.folder, store: createChunkStore(call.folder) };
    return;
  }
  let reply: StoreReply;
  try {
    reply = { answer: answer(call) };
  } catch (error) {
    reply = { failure: failureOf(error) };
  }
  const moved = 'answer' in reply && reply.answer.bytes.length > 0 ? [reply.answer.bytes.buffer] : [];
  parentPort?.postMessage(reply, moved);
});
