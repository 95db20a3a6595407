import { hasCode } from '../../../lib/error-code.ts';
import { isFullDisk } from '../../../lib/full-disk.ts';
import { BrokenWebsiteError } from '../../contract/errors.ts';
import { PhpFailure } from '../../runtime/wasm/php-sites.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';

const ADVICE =
  'Look into .private/php-error.log, and deactivate the plugin or theme that it names, or restore a backup. Then try again.';

/** A script of the platform did not run on a website. */
export class FailedScriptError extends Error {
  override name = 'FailedScriptError';
  /** What PHP said. */
  readonly output: string;
  constructor(what: string, output: string) {
    super(`${what}: ${output.trim().slice(-2_000)}`);
    this.output = output;
  }
}

/** Runs work on a website. Names what only its owner can fix, so that it is not tried again in vain. */
export async function blamingWebsite<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    const reason = faultOf(cause);
    if (reason === null) throw cause;
    throw new BrokenWebsiteError(reason, { cause });
  }
}

/** Null: the website may not be at fault. */
function faultOf(error: unknown): string | null {
  if (isFullDisk(error)) return null;
  if (error instanceof FailedScriptError)
    return `The PHP of the website failed: ${failureSentence(error.output)}. ${ADVICE}`;
  if (error instanceof PhpFailure && error.reason === 'timeout')
    return `The PHP of the website did not end in time. ${ADVICE}`;
  if (error instanceof PhpFailure && error.reason === 'memory')
    return `The PHP of the website needed more memory than it may have. ${ADVICE}`;
  if (hasCode(error, 'ENOENT') && error instanceof Error && error.message.endsWith("/.private'"))
    return 'The folder .private of the website is missing. Create it by SFTP, or restore a backup. Then try again.';
  return null;
}
