import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Logger } from 'pino';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Config } from '../config/config.ts';
import type { BackupRefusal, BackupTables, EntryPage } from '../hosting/contract/backup-contents.ts';
import { backupTables } from '../hosting/contract/backup-messages.ts';
import {
  type DatabaseLink,
  type DatabaseLinkRefused,
  DatabaseLinkRefusedSchema,
  DatabaseLinkSchema,
} from '../hosting/contract/database-access.ts';
import type { WordPressHere } from '../hosting/contract/embedded-wordpress.ts';
import type { Host } from '../hosting/contract/host.ts';
import {
  type InstallMail,
  InstallMailSchema,
  type MailRefused,
  MailRefusedSchema,
} from '../hosting/contract/mail.ts';
import {
  type LoginRefused,
  LoginRefusedSchema,
  type WordPressLogin,
  WordPressLoginSchema,
} from '../hosting/contract/wordpress-login.ts';
import { codeOf } from '../lib/error-code.ts';

/**
 * Socket on which the process that serves the websites answers other processes of its user on this machine: commands, and an API in a
 * process of its own. Only that process runs PHP, so only it can create logins to WordPress and links to
 * databases and read databases of backups, and knows what websites send.
 */
const socketOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'host', 'serving.sock');

/** macOS limits the path of a socket to 104 bytes, Linux to 108, both with the final zero. */
const LONGEST_PATH = 103;
const MOST_BYTES = 16 * 1024;
/** Longer than the host takes for a login, a start of PHP included. */
const ANSWER_WITHIN_MS = 60_000;

const Question = Type.Union([
  Type.Object({ ask: Type.Literal('wordpress') }),
  Type.Object({
    ask: Type.Literal('login'),
    install: Type.Object({ id: Type.String(), name: Type.String() }),
    user: Type.Union([Type.String(), Type.Null()]),
  }),
  Type.Object({
    ask: Type.Literal('database'),
    install: Type.Object({ id: Type.String(), name: Type.String() }),
  }),
  Type.Object({
    ask: Type.Literal('mail'),
    install: Type.Object({ id: Type.String(), name: Type.String() }),
  }),
  Type.Object({
    ask: Type.Literal('tables'),
    install: Type.Object({ id: Type.String(), name: Type.String() }),
    backupId: Type.String(),
    page: Type.Object({ offset: Type.Integer(), limit: Type.Integer() }),
  }),
]);
type Question = Static<typeof Question>;

const Available = Type.Union([
  Type.Object({
    version: Type.String(),
    engine: Type.Union([Type.Literal('machine'), Type.Literal('wasm')]),
    notMachine: Type.Union([Type.String(), Type.Null()]),
  }),
  Type.Object({ reason: Type.String() }),
]);
const Login = Type.Union([WordPressLoginSchema, LoginRefusedSchema]);
const Database = Type.Union([DatabaseLinkSchema, DatabaseLinkRefusedSchema]);
const Mail = Type.Union([InstallMailSchema, MailRefusedSchema]);

/** Questions to the serving process. */
type Answering = Pick<Host, 'createLogin' | 'createDatabaseLink' | 'listBackupTables' | 'readMail'> & {
  wordpressHere(): Promise<WordPressHere>;
};

const NOT_RUNNING = 'Homeport is not running. Start it ("homeport serve"), then try again.';

/** Answers on the socket until `stop`. A missing socket is no reason not to serve, so the log names the cause. */
export async function answerOtherProcesses(
  config: Pick<Config, 'dataDir'>,
  host: Answering,
  log: Logger,
): Promise<{ stop(): Promise<void> }> {
  const path = socketOf(config);
  const server = createServer(async (incoming, response) => {
    try {
      const answer = await answerOf(await questionOf(incoming), host);
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
    } catch (err) {
      log.warn({ err }, 'could not answer another process');
      response.writeHead(500).end();
    }
  });
  try {
    if (Buffer.byteLength(path) > LONGEST_PATH) throw new Error(`the path ${path} is too long for a socket`);
    // The lock of the data folder allows one serving process, so a present socket is that of an ended one.
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(path, resolve);
    });
    await chmod(path, 0o600);
  } catch (err) {
    log.warn({ err }, 'commands cannot ask this process, so "homeport install login" does not work');
  }
  return {
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function questionOf(incoming: IncomingMessage): Promise<Question> {
  if (Number(incoming.headers['content-length'] ?? Number.NaN) <= MOST_BYTES) {
    return Value.Parse(Question, await json(incoming));
  }
  throw new Error('a question of unknown or too large size');
}

async function answerOf(question: Question, host: Answering): Promise<unknown> {
  switch (question.ask) {
    case 'wordpress':
      return host.wordpressHere();
    case 'database':
      return host.createDatabaseLink(question.install);
    case 'mail':
      return host.readMail(question.install);
    case 'tables':
      return host.listBackupTables(question.install, question.backupId, question.page);
    case 'login':
      return host.createLogin(question.install, question.user);
  }
}

/** Asks the serving process for a login to WordPress. */
export async function askForLogin(
  config: Pick<Config, 'dataDir'>,
  install: { id: string; name: string },
  user: string | null,
): Promise<WordPressLogin | LoginRefused> {
  const { id, name } = install;
  const answer = await ask(config, { ask: 'login', install: { id, name }, user }, Login);
  return answer ?? { refused: 'website', reason: NOT_RUNNING };
}

/** Asks the serving process for a link to a database. */
export async function askForDatabase(
  config: Pick<Config, 'dataDir'>,
  { id, name }: { id: string; name: string },
): Promise<DatabaseLink | DatabaseLinkRefused> {
  const answer = await ask(config, { ask: 'database', install: { id, name } }, Database);
  return answer ?? { refused: 'website', reason: NOT_RUNNING };
}

/** Asks the serving process about the mail of an install. */
export async function askForMail(
  config: Pick<Config, 'dataDir'>,
  { id, name }: { id: string; name: string },
): Promise<InstallMail | MailRefused> {
  const answer = await ask(config, { ask: 'mail', install: { id, name } }, Mail);
  return answer ?? { refused: 'website', reason: NOT_RUNNING };
}

/** Asks the serving process for tables of a backup, which it reads with PHP. */
export async function askForTables(
  config: Pick<Config, 'dataDir'>,
  { id, name }: { id: string; name: string },
  backupId: string,
  { offset, limit }: EntryPage,
): Promise<BackupTables | BackupRefusal> {
  const page = { offset, limit };
  const answer = await ask(config, { ask: 'tables', install: { id, name }, backupId, page }, backupTables);
  return answer ?? { refused: 'backup', reason: NOT_RUNNING };
}

/** Asks the serving process whether it runs WordPress. */
export async function askForWordPress(config: Pick<Config, 'dataDir'>): Promise<WordPressHere> {
  return (await ask(config, { ask: 'wordpress' }, Available)) ?? { reason: NOT_RUNNING };
}

/** Null if no process serves the websites on this machine. */
function ask<Schema extends TSchema>(
  config: Pick<Config, 'dataDir'>,
  question: Question,
  schema: Schema,
): Promise<Static<Schema> | null> {
  const body = JSON.stringify(question);
  const socketPath = socketOf(config);
  // An API on a machine without websites asks at each new install, and an error of a connection costs ten times as much as a look.
  if (!existsSync(socketPath)) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        socketPath,
        agent: false,
        method: 'POST',
        headers: { 'Content-Length': Buffer.byteLength(body) },
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      },
      (response) => {
        if (response.statusCode !== 200) {
          response.resume();
          reject(new Error('The process that serves the websites has failed. Its log has the cause.'));
          return;
        }
        json(response)
          .then((answer) => resolve(Value.Parse(schema, answer)))
          .catch(reject);
      },
    );
    asked.on('error', (error) => {
      if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(codeOf(error) ?? '')) resolve(null);
      else reject(error);
    });
    asked.end(body);
  });
}
