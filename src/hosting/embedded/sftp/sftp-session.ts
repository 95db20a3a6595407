import type { Logger } from 'pino';
import ssh2, { type SFTPWrapper } from 'ssh2';
import type { SftpFiles } from './sftp-files.ts';
import { createHandles } from './sftp-handles.ts';
import { createRequestQueue } from './sftp-queue.ts';
import { isOperatorsMatter, refusal, refusalOf } from './sftp-status.ts';
import { type Access, AccessEndedError } from './ssh-access.ts';

export interface SftpSession {
  /** Call this after data was sent or received. */
  wake(): void;
  /** Ends running requests and closes all files. */
  dispose(): Promise<void>;
}

export interface SftpSessionOptions {
  sftp: SFTPWrapper;
  files: SftpFiles;
  access: Access;
  /** How many files and folders may be open at once. */
  handles: number;
  /** Bytes waiting to be sent on the connection. */
  unsent(): number;
  /** Pauses (true) or resumes (false) reading from the client. */
  hold(held: boolean): void;
  /** A request arrived. */
  onRequest(): void;
  /** The connection must end, because the client lost its access or misbehaves. */
  onEnd(reason: string): void;
  log: Logger;
}

const { STATUS_CODE } = ssh2.utils.sftp;

/** Answers the requests of one SFTP session (protocol version 3, draft-ietf-secsh-filexfer-02), one after the other. */
export function serveSftp(options: SftpSessionOptions): SftpSession {
  const { sftp, files, access, log } = options;
  const handles = createHandles(options.handles, files.close);
  const queue = createRequestQueue({
    backlog: () => options.unsent() + bufferedIn(sftp),
    hold: options.hold,
    overflow: () => options.onEnd('the client sends requests without reading the answers'),
  });

  /** Queues a request. `open`: whether it uses an open handle; see {@link Access}. */
  function answer(id: number, open: 'new' | 'open', bytes: number, work: () => Promise<void> | void): void {
    options.onRequest();
    queue.add(bytes, async () => {
      try {
        await access.check(open);
        await work();
      } catch (error) {
        if (error instanceof AccessEndedError) options.onEnd(error.message);
        else refuse(id, error);
      }
    });
  }

  function refuse(id: number, error: unknown): void {
    const known = refusalOf(error);
    if (known === null || isOperatorsMatter(error)) log.error({ err: error }, 'an SFTP request failed');
    const { code, message } =
      known ?? refusal.failed('The server failed; the operator can see the cause in the log');
    sftp.status(id, code, message);
  }

  function done(id: number): void {
    sftp.status(id, STATUS_CODE.OK);
  }

  sftp.on('OPEN', (id, path, flags, attributes) =>
    answer(id, 'new', path.length, async () => {
      handles.requireRoom();
      sftp.handle(id, handles.addFile(await files.open(path, flags, attributes)));
    }),
  );
  sftp.on('READ', (id, handle, position, length) =>
    answer(id, 'open', 0, async () => {
      sftp.data(id, await files.read(handles.file(handle), position, length));
    }),
  );
  sftp.on('WRITE', (id, handle, position, content) =>
    answer(id, 'open', content.length, async () => {
      await files.write(handles.file(handle), position, content);
      done(id);
    }),
  );
  sftp.on('CLOSE', (id, handle) =>
    answer(id, 'open', 0, async () => {
      await handles.close(handle);
      done(id);
    }),
  );
  sftp.on('FSTAT', (id, handle) =>
    answer(id, 'open', 0, async () => {
      sftp.attrs(id, await files.statOpen(handles.file(handle)));
    }),
  );
  sftp.on('FSETSTAT', (id, handle, attributes) =>
    answer(id, 'open', 0, async () => {
      await files.changeOpen(handles.file(handle), attributes);
      done(id);
    }),
  );
  sftp.on('OPENDIR', (id, path) =>
    answer(id, 'new', path.length, async () => {
      handles.requireRoom();
      sftp.handle(id, handles.addListing(await files.list(path)));
    }),
  );
  sftp.on('READDIR', (id, handle) =>
    answer(id, 'open', 0, async () => {
      const entries = await files.nextEntries(handles.listing(handle));
      if (entries.length === 0) throw refusal.eof();
      sftp.name(id, entries);
    }),
  );
  sftp.on('STAT', (id, path) =>
    answer(id, 'new', path.length, async () => sftp.attrs(id, await files.stat(path, 'follow'))),
  );
  sftp.on('LSTAT', (id, path) =>
    answer(id, 'new', path.length, async () => sftp.attrs(id, await files.stat(path, 'show'))),
  );
  sftp.on('SETSTAT', (id, path, attributes) =>
    answer(id, 'new', path.length, async () => {
      await files.change(path, attributes);
      done(id);
    }),
  );
  sftp.on('REMOVE', (id, path) =>
    answer(id, 'new', path.length, async () => {
      await files.remove(path);
      done(id);
    }),
  );
  sftp.on('MKDIR', (id, path, attributes) =>
    answer(id, 'new', path.length, async () => {
      await files.makeFolder(path, attributes);
      done(id);
    }),
  );
  sftp.on('RMDIR', (id, path) =>
    answer(id, 'new', path.length, async () => {
      await files.removeFolder(path);
      done(id);
    }),
  );
  sftp.on('RENAME', (id, from, to) =>
    answer(id, 'new', from.length + to.length, async () => {
      await files.rename(from, to, 'keep');
      done(id);
    }),
  );
  sftp.on('REALPATH', (id, path) =>
    answer(id, 'new', path.length, () => sftp.name(id, [files.realPath(path)])),
  );
  sftp.on('READLINK', (id, path) =>
    answer(id, 'new', path.length, async () => sftp.name(id, [await files.readLink(path)])),
  );
  sftp.on('SYMLINK', (id, target) =>
    answer(id, 'new', target.length, () => {
      throw refusal.unsupported('Symbolic links cannot be made here');
    }),
  );
  sftp.on('EXTENDED', (id, name, content) =>
    answer(id, 'new', content?.length ?? 0, async () => {
      if (name !== 'posix-rename@openssh.com') throw refusal.unsupported('This extension is not supported');
      const [from, to] = twoStrings(content);
      await files.rename(from, to, 'replace');
      done(id);
    }),
  );

  async function dispose(): Promise<void> {
    await queue.stop();
    await handles.closeAll();
  }

  // The client sends no more requests; queued ones are still executed.
  sftp.on('end', () => {
    queue.add(0, async () => {
      await handles.closeAll();
      sendExitStatus(sftp);
      sftp.end();
    });
  });
  sftp.on('close', () => {
    dispose().catch((err: unknown) => log.error({ err }, 'files of an SFTP session were not closed'));
  });
  sftp.on('error', (err: Error) => log.info({ err }, 'an SFTP client broke the protocol'));

  return { wake: queue.wake, dispose };
}

/**
 * Bytes of responses that exceed the client's SSH window. The library keeps them in an undocumented field. Without that field, a client
 * that does not read could fill the memory.
 */
function bufferedIn(sftp: SFTPWrapper): number {
  const buffered: unknown = Reflect.get(sftp, '_buffer');
  if (!Array.isArray(buffered)) throw new TypeError('the SSH library does not show what it has not sent');
  let bytes = 0;
  for (const chunk of buffered) bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
  return bytes;
}

/**
 * Reports that the SFTP subsystem ended well (RFC 4254 section 6.10). OpenSSH's `scp` exits with 1 if a server closes the channel without it.
 * The library offers this for shells only, so it is sent through undocumented fields.
 */
function sendExitStatus(sftp: SFTPWrapper): void {
  const protocol: unknown = Reflect.get(sftp, '_protocol');
  const channel: unknown = Reflect.get(sftp, 'outgoing');
  if (!isRecord(protocol) || !isRecord(channel) || typeof protocol.exitStatus !== 'function') {
    throw new TypeError('the SSH library has no way to send an exit status');
  }
  // A client that has already closed the channel expects nothing more.
  if (channel.state === 'open' || channel.state === 'eof') protocol.exitStatus(channel.id, 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Two strings of the SSH protocol (RFC 4251 section 5), and nothing else. */
function twoStrings(content: Buffer | undefined): [string, string] {
  const strings: string[] = [];
  for (let at = 0; content !== undefined && at + 4 <= content.length; ) {
    const end = at + 4 + content.readUInt32BE(at);
    if (end > content.length) break;
    strings.push(content.toString('utf8', at + 4, end));
    at = end;
  }
  const [first, second, ...further] = strings;
  const length = strings.reduce((sum, text) => sum + 4 + Buffer.byteLength(text), 0);
  if (first === undefined || second === undefined || further.length > 0 || length !== content?.length) {
    throw refusal.malformed('The request is malformed');
  }
  return [first, second];
}
