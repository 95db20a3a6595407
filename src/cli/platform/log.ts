import { type Logger, pino } from 'pino';
import type { Config } from '../../config/config.ts';

/** Fields that never reach the log. */
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

/** The log on standard error: JSON lines, or readable text on a terminal. */
export async function createLog({ logLevel }: Pick<Config, 'logLevel'>): Promise<Logger> {
  const options = { level: logLevel, redact: { paths: SECRET_FIELDS, censor: '[secret]' } };
  if (!process.stderr.isTTY) return pino(options, pino.destination({ dest: 2, sync: false }));
  const { default: pretty } = await import('pino-pretty');
  return pino(
    options,
    pretty({ destination: 2, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', sync: true }),
  );
}
