import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config/config.ts';

/** Fields that never reach the log, whoever puts them there. */
const SECRET_FIELDS = [
  'password',
  'token',
  'authorization',
  'key',
  '*.password',
  '*.token',
  '*.authorization',
  '*.key',
];

/** The log, on standard error: a line of JSON each; on a terminal, lines for people. */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  const options = { level: logLevel, redact: { paths: SECRET_FIELDS, censor: '[secret]' } };
  return process.stderr.isTTY
    ? pino(
        options,
        pretty({ destination: 2, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', sync: true }),
      )
    : pino(options, pino.destination({ dest: 2, sync: false }));
}
