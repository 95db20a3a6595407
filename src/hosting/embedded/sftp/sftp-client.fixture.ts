import type ssh2 from 'ssh2';
import type { SFTPWrapper } from 'ssh2';

/** The client's functions as promises. */
export function promised(sftp: SFTPWrapper) {
  function call<T = void>(
    run: (done: (error: Error | null | undefined, result: T) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) =>
      run((error, result) => (error ? reject(error) : resolve(result))),
    );
  }
  return {
    raw: sftp,
    open: (path: string, flags: string, mode?: number) =>
      call<Buffer>((done) =>
        mode === undefined
          ? sftp.open(path, flags as 'r', done)
          : sftp.open(path, flags as 'r', { mode }, done),
      ),
    close: (handle: Buffer) => call((done) => sftp.close(handle, (e) => done(e, undefined))),
    write: (handle: Buffer, at: number, bytes: Buffer | string) =>
      call((done) => {
        const buffer = Buffer.from(bytes);
        sftp.write(handle, buffer, 0, buffer.length, at, (e) => done(e, undefined));
      }),
    read: (handle: Buffer, at: number, length: number) =>
      call<Buffer>((done) => {
        const buffer = Buffer.alloc(length);
        sftp.read(handle, buffer, 0, length, at, (e, bytes) => done(e, buffer.subarray(0, bytes)));
      }),
    fstat: (handle: Buffer) => call<ssh2.Stats>((done) => sftp.fstat(handle, done)),
    fsetstat: (handle: Buffer, a: ssh2.InputAttributes) =>
      call((done) => sftp.fsetstat(handle, a, (e) => done(e, undefined))),
    stat: (path: string) => call<ssh2.Stats>((done) => sftp.stat(path, done)),
    lstat: (path: string) => call<ssh2.Stats>((done) => sftp.lstat(path, done)),
    setstat: (path: string, a: ssh2.InputAttributes) =>
      call((done) => sftp.setstat(path, a, (e) => done(e, undefined))),
    readdir: (path: string) => call<ssh2.FileEntryWithStats[]>((done) => sftp.readdir(path, done)),
    opendir: (path: string) => call<Buffer>((done) => sftp.opendir(path, done)),
    unlink: (path: string) => call((done) => sftp.unlink(path, (e) => done(e, undefined))),
    mkdir: (path: string, mode?: number) =>
      call((done) =>
        mode === undefined
          ? sftp.mkdir(path, (e) => done(e, undefined))
          : sftp.mkdir(path, { mode }, (e) => done(e, undefined)),
      ),
    rmdir: (path: string) => call((done) => sftp.rmdir(path, (e) => done(e, undefined))),
    rename: (from: string, to: string) => call((done) => sftp.rename(from, to, (e) => done(e, undefined))),
    posixRename: (from: string, to: string) => {
      // The gateway cannot announce the extension, but some clients use it anyway.
      Object.assign(Reflect.get(sftp, '_extensions'), { 'posix-rename@openssh.com': '1' });
      return call((done) => sftp.ext_openssh_rename(from, to, (e) => done(e, undefined)));
    },
    realpath: (path: string) => call<string>((done) => sftp.realpath(path, done)),
    readlink: (path: string) => call<string>((done) => sftp.readlink(path, done)),
    symlink: (target: string, path: string) =>
      call((done) => sftp.symlink(target, path, (e) => done(e, undefined))),
    put: (local: string, remote: string) =>
      call((done) => sftp.fastPut(local, remote, (e) => done(e, undefined))),
    get: (remote: string, local: string) =>
      call((done) => sftp.fastGet(remote, local, (e) => done(e, undefined))),
    readFile: (path: string) => call<Buffer>((done) => sftp.readFile(path, done)),
    writeFile: (path: string, content: string) =>
      call((done) => sftp.writeFile(path, content, (e) => done(e, undefined))),
  };
}
export type Sftp = ReturnType<typeof promised>;

/** The result of a request: `succeeded`, or the code of the failure. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'succeeded',
    (error: unknown) => Object(error).code,
  );
}
