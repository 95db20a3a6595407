import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transporter } from 'nodemailer';
import type { Clock } from '../lib/clock.ts';

export interface MailText {
  subject: string;
  text: string;
}

export interface Mail extends MailText {
  to: string;
  /** Further header fields by name. */
  headers?: Readonly<Record<string, string>>;
}

/** A finished message. */
export interface Message {
  /** Envelope sender. */
  from: string;
  to: string[];
  /** With its header. */
  message: Buffer;
}

export interface Mailer {
  /** Sends a mail, or throws. Jobs that send mails are retried. */
  send(mail: Mail): Promise<void>;
  /** Sends a message as it is, or throws. */
  forward(message: Message): Promise<void>;
  /** Throws if mails cannot be sent now; for `homeport doctor`. */
  verify(): Promise<void>;
}

/** Keeps an unresponsive mail server from blocking a worker. */
const TIMEOUT_MS = 20_000;

/** Sends by SMTP if it is configured; otherwise writes each mail to an `.eml` file in the data folder. */
export function createMailer(
  settings: { smtpUrl: string | null; mailFrom: string; dataDir: string },
  clock: Clock,
): Mailer {
  return settings.smtpUrl === null
    ? fileMailer(join(settings.dataDir, 'mail'), settings.mailFrom, clock)
    : smtpMailer(settings.smtpUrl, settings.mailFrom);
}

/** Loaded with the first mail, to keep time and memory out of the start. */
const nodemailer = async () => (await import('nodemailer')).default;

function smtpMailer(url: string, from: string): Mailer {
  let made: Promise<Transporter> | undefined;
  const transport = () => {
    made ??= nodemailer().then((library) =>
      library.createTransport(
        { url, connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
        { from },
      ),
    );
    return made;
  };
  return {
    async send(mail) {
      const { headers = {}, ...rest } = mail;
      await (await transport()).sendMail({ ...rest, headers: { ...headers } });
    },
    async forward({ from: sender, to, message }) {
      await (await transport()).sendMail({ envelope: { from: sender, to }, raw: message });
    },
    async verify() {
      await (await transport()).verify();
    },
  };
}

function fileMailer(folder: string, from: string, clock: Clock): Mailer {
  async function write(message: string | Buffer): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = `${clock.now().toISOString().replaceAll(':', '-')}-${crypto.randomUUID().slice(0, 8)}.eml`;
    await writeFile(join(folder, name), message, { mode: 0o600 });
  }
  return {
    async send(mail) {
      const head = await headOf({ ...mail, date: clock.now() }, from);
      await write(`${head}\r\n\r\n${mail.text.replaceAll('\n', '\r\n')}`);
    },
    forward: ({ message }) => write(message),
    async verify() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    },
  };
}

/** Header lines for an unencoded 8bit text (RFC 2045, section 2.8), so that links in these files stay readable. */
async function headOf(mail: Mail & { date: Date }, from: string): Promise<string> {
  const library = await nodemailer();
  const transport = library.createTransport({ streamTransport: true, buffer: true }, { from });
  const { message } = await transport.sendMail({ ...mail, headers: { ...mail.headers }, text: '' });
  if (!Buffer.isBuffer(message)) throw new Error('the mail was not composed in memory');
  const [head = ''] = message.toString('utf8').split('\r\n\r\n');
  const others = head.split('\r\n').filter((line) => !/^content-(type|transfer-encoding):/i.test(line));
  return [...others, 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit'].join(
    '\r\n',
  );
}
