import type { Logger } from 'pino';

/**
 * Does work that websites can be served without. Logs a failure with the message `failure`, and continues; "homeport doctor
 * --host" then names what is missing.
 */
export async function tryOrLog(log: Logger, failure: string, work: () => Promise<void>): Promise<void> {
  await work().catch((err: unknown) => log.error({ err }, failure));
}
