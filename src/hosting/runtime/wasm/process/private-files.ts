import type { EmscriptenFs, FsNode, NodeOperations, StreamOperations } from './emscripten.ts';
import { ERROR_LOG, LONGEST_ENTRY, openErrorLog } from './error-log.ts';
import type { LiveFiles, LiveFolder } from './live-files.ts';

const APPEND = 1024;
/** How PHP names uploads and its own temporary files, which it removes at the end of a request. */
export const TEMPORARY = /^php\w{6,}$/;

/** The private folder of a website, in which PHP's error log stays short. */
export function privateFolder(FS: EmscriptenFs, live: LiveFiles): LiveFolder {
  const { operations, streams, pathOf } = live;
  const logStreams: StreamOperations = {
    ...streams,
    open(stream) {
      if ((stream.flags & APPEND) === 0) return streams.open(stream);
      stream.shared.refcount = 1;
      stream.nfd = FS.filesystems.NODEFS.tryFSOperation(() => openErrorLog(pathOf(stream.node)));
    },
    write(stream, buffer, offset, length, ...others) {
      streams.write(stream, buffer, offset, Math.min(length, LONGEST_ENTRY), ...others);
      return length;
    },
  };
  const found = (node: FsNode): FsNode => {
    if (node.name === ERROR_LOG && FS.isFile(node.mode)) node.stream_ops = logStreams;
    return node;
  };
  return live.folder({
    lookup: (parent, name) => found(operations.lookup(parent, name)),
    mknod: (parent, name, mode) => found(operations.mknod(parent, name, mode)),
  });
}

/** The folder of temporary files. Tells which ones PHP will remove, if it comes to that. */
export function temporaryFolder(live: LiveFiles, created: (name: string) => void): LiveFolder {
  const mknod: NodeOperations['mknod'] = (parent, name, mode) => {
    const node = live.operations.mknod(parent, name, mode);
    if (TEMPORARY.test(name)) created(name);
    return node;
  };
  return live.folder({ mknod });
}
