import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { messageOf } from '../../../lib/error-message.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';

/** The mail server that takes the messages of all websites. */
export interface RelaySettings {
  /** `smtp:` with STARTTLS, or `smtps:`; host and port only. */
  url: string;
  /** File with the user name in its first line and the password in its second; null for no authentication. */
  credentialsFile: string | null;
}

/** A message to deliver. */
export interface OutgoingMessage {
  /** File with the whole message. */
  path: string;
  sender: string;
  recipients: readonly string[];
  bytes: number;
}

/** The relay's answer for a recipient. */
export interface Verdict {
  recipient: string;
  outcome: 'sent' | 'deferred' | 'failed';
  reply: string;
}

/** The relay cannot be used, whatever the message. */
export class RelayFault extends Error {
  override name = 'RelayFault';
}

export interface Relay {
  /** `host:port`. */
  readonly address: string;
  /** Returns a verdict for each recipient. Rejects with a {@link RelayFault} if the relay took no message at all. */
  deliver(message: OutgoingMessage): Promise<Verdict[]>;
  /** Connects and signs in. Rejects with a {@link RelayFault}. */
  verify(): Promise<void>;
}

const CONNECT_MS = 30_000;
/** RFC 5321 section 4.5.3.2.6 asks for ten minutes after the end of the data. */
const SILENCE_MS = 10 * 60_000;
const SMTP_PORT = 25;
const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;
const LONGEST_REPLY = 500;
const SHUTTING_DOWN = 421;

export function createRelay({ url, credentialsFile }: RelaySettings): Relay {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'smtps:';
  const isLocal = isLoopback(host);
  const standard = isSecure ? SUBMISSIONS_PORT : isLocal ? SMTP_PORT : SUBMISSION_PORT;
  const target = { host, port: port === '' ? standard : Number(port) };

  /** A connection that is signed in, while `work` runs. */
  async function connected<Result>(work: (connection: SMTPConnection) => Promise<Result>): Promise<Result> {
    const credentials = credentialsFile === null ? null : await readCredentials(credentialsFile);
    // Loaded with the first message, to keep time and memory out of the start.
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const connection = new Connection({
      ...target,
      secure: isSecure,
      // Traffic to a relay on the machine itself stays there, and its certificate rarely names the loopback address.
      requireTLS: !isSecure && !isLocal,
      allowInternalNetworkInterfaces: isLocal,
      ignoreTLS: !isSecure && isLocal,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
    });
    const failed = new Promise<never>((_resolve, reject) => connection.once('error', reject));
    // Also after the end, when nothing waits for it.
    failed.catch(() => {});
    connection.on('error', () => {});
    try {
      try {
        const connecting = new Promise<void>((resolve) => connection.connect(() => resolve()));
        await Promise.race([connecting, failed]);
        if (credentials !== null) {
          const { user, pass } = credentials;
          await new Promise<void>((resolve, reject) =>
            connection.login({ user, pass, credentials }, (error) => (error ? reject(error) : resolve())),
          );
        }
      } catch (error) {
        throw faultOf(error);
      }
      return await work(connection);
    } finally {
      connection.quit();
      connection.close();
    }
  }

  return {
    address: hostAndPort(target),
    verify: () => connected(async () => {}),
    deliver: (message) => connected((connection) => send(connection, message)),
  };
}

async function send(connection: SMTPConnection, message: OutgoingMessage): Promise<Verdict[]> {
  const { path, sender, recipients, bytes } = message;
  const envelope = { from: sender, to: [...recipients], size: bytes, use8BitMime: true };
  try {
    const info = await new Promise<{ response: string; rejectedErrors?: unknown[] | undefined }>(
      (resolve, reject) =>
        connection.send(envelope, createReadStream(path), (error, sent) =>
          error || !sent ? reject(error ?? new Error('the relay gave no answer')) : resolve(sent),
        ),
    );
    return verdicts(recipients, info.rejectedErrors ?? [], {
      outcome: 'sent',
      reply: cutReply(info.response),
    });
  } catch (error) {
    const { responseCode = null, command, rejectedErrors = [], code } = smtpErrorOf(error);
    if (responseCode === SHUTTING_DOWN && command === 'MAIL FROM') throw faultOf(error);
    // Without a code: the relay announced a lower limit of the size, or the connection broke.
    const isPermanent =
      responseCode === null ? code === 'EMESSAGE' || code === 'EENVELOPE' : responseCode >= 500;
    return verdicts(recipients, rejectedErrors, {
      outcome: isPermanent ? 'failed' : 'deferred',
      reply: cutReply(messageOf(error)),
    });
  }
}

/** `rejected`: errors of single recipients. The others have the outcome of the message. */
function verdicts(
  recipients: readonly string[],
  rejected: readonly unknown[],
  others: Omit<Verdict, 'recipient'>,
): Verdict[] {
  const refused = new Map(
    rejected.map((error): [string | undefined, Omit<Verdict, 'recipient'>] => {
      const { recipient, responseCode = null } = smtpErrorOf(error);
      const isPermanent = responseCode !== null && responseCode >= 500;
      return [recipient, { outcome: isPermanent ? 'failed' : 'deferred', reply: cutReply(messageOf(error)) }];
    }),
  );
  return recipients.map((recipient) => ({ recipient, ...(refused.get(recipient) ?? others) }));
}

interface SmtpError {
  code?: string;
  command?: string;
  recipient?: string;
  responseCode?: number;
  rejectedErrors?: unknown[];
}

/** The facts in an error of nodemailer. */
function smtpErrorOf(error: unknown): SmtpError {
  if (!(error instanceof Error)) return {};
  const facts: Record<string, unknown> = { ...error };
  const { code, command, recipient, responseCode, rejectedErrors } = facts;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...(typeof recipient === 'string' ? { recipient } : {}),
    ...(typeof responseCode === 'number' ? { responseCode } : {}),
    ...(Array.isArray(rejectedErrors) ? { rejectedErrors } : {}),
  };
}

function faultOf(cause: unknown): RelayFault {
  return new RelayFault(cutReply(messageOf(cause)), { cause });
}

/** Multi-line answers in one line. */
function cutReply(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, LONGEST_REPLY);
}

/** The host reads it for each connection, so that a new password needs no restart. */
async function readCredentials(file: string): Promise<{ user: string; pass: string }> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new RelayFault(`the file with the password cannot be read: ${messageOf(cause)}`, { cause });
  });
  const [user = '', pass = ''] = text.split(/\r?\n/);
  if (user !== '' && pass !== '') return { user, pass };
  throw new RelayFault(`${file} must have the user name in its first line and the password in its second`);
}

/** Whether the host is this machine. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost';
  return ipaddr.process(host).range() === 'loopback';
}
