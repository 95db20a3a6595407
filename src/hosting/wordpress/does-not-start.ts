import { failureSentence } from './failure-sentence.ts';

/** Why a website's WordPress does not start, from what PHP wrote; for the website's owner. */
export function doesNotStart(written: string): string {
  return `WordPress does not start. Check wp-config.php and the database: ${failureSentence(written)}`;
}
