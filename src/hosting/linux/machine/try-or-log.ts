import type { Logger } from 'pino';

/**
 * Does what websites can be served without: what fails is told in the log as `failure`, and the host goes on; "homeport doctor --host"
 * names what is missing then.
 */
export async function tryOrLog(log: Logger, failure: string, work: () => Promise<void>): Promise<void> {
  await work().catch((err: unknown) => log.error({ err }, failure));
}
