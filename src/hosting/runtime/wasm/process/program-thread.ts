/** A thread that runs one program of PHP, as on a command line, and ends with it. */
import { parentPort, workerData } from 'node:worker_threads';
import { FileLocks } from './file-locks.ts';
import { loadPhp, writePrepend } from './load-php.ts';
import { LockTable } from './lock-table.ts';
import { raiseWalls } from './machine-walls.ts';
import { createOutputRing } from './output-ring.ts';
import { intercept, unsigned } from './php-output.ts';
import { phpSockets } from './php-sockets.ts';
import { deliverMail, MailProgram } from './sendmail.ts';
import type { FromProgram, ProgramStart, ProgramStream } from './thread-messages.ts';
import { createVirtualFiles } from './virtual-files.ts';

const { site, program, ...start }: ProgramStart = workerData;
const port = parentPort;
if (port === null) throw new Error('this module is a thread');
const send = (message: FromProgram): void => port.postMessage(message);

raiseWalls(start.settings);
const input = program.input === undefined ? null : Buffer.from(program.input);
let read = 0;
const loaded = await loadPhp({
  ...start,
  locks: new FileLocks(new LockTable(start.lockTable, start.thread), start.thread),
  sockets: phpSockets(() => site.services),
  readInput() {
    if (input === null) throw new Error('there is no input');
    return input[read++] ?? null;
  },
});
const { php, runtime, memory } = loaded;
const ring = createOutputRing(start.ring, start.unread, () => false);
const take = (stream: ProgramStream) => (chunk: Uint8Array | Int8Array) =>
  ring.write(unsigned(chunk), (at, length) => send({ kind: 'output', stream, at, length }));
intercept(runtime, 'onStdout', take('stdout'));
intercept(runtime, 'onStderr', take('stderr'));
createVirtualFiles(runtime.FS, (name) => send({ kind: 'temporary', name })).show(site.folders);
php.setCommandSpawnHandler(
  'sendmail',
  (_command: string, parameters: string[]) =>
    new MailProgram(parameters, (message) => deliverMail(site.services, message, parameters)),
);
writePrepend(loaded, `${site.prepend}\n${program.prepend}`);
memory.close();
php.chdir(program.folder);

let exit = 0;
let crash: string | null = null;
try {
  const response = await php.cli(['php', ...program.arguments], { env: program.environment });
  exit = await response.exitCode;
} catch (reason) {
  crash = String(reason).slice(0, 500);
}
send({ kind: 'end', exit, crash, memory: runtime.HEAPU8.length });
