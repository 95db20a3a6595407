import Type, { type Static } from 'typebox';
import { SECOND_MS } from '../../../lib/durations.ts';
import { phpFileOf } from '../../wordpress/php-files.ts';
import { parsePrinted } from '../../wordpress/printed-json.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { runPhp } from './run-php.ts';

const WITHIN_MS = 20 * SECOND_MS;
/** The website's own code may print more, and this process keeps it. */
const MOST_OUTPUT = 1024 * 1024;

const text = Type.String({ maxLength: 300 });
const postId = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]);

export const siteSettingsSchema = Type.Object({
  siteurl: text,
  home: text,
  template: text,
  stylesheet: text,
  /** Files of the active plugins. */
  plugins: Type.Array(text, { maxItems: 1_000 }),
  /** Ids of the newest public post and page. */
  post: postId,
  page: postId,
});

/** Settings of a website that an update of a plugin should not change. */
export type SiteSettings = Static<typeof siteSettingsSchema>;

/** Reads the settings from the database, without plugins. Null if WordPress does not start. */
export async function readSiteSettings(
  layout: LinuxLayout,
  install: SandboxedInstall,
  { enter, signal }: { enter: readonly string[]; signal: AbortSignal | undefined },
): Promise<SiteSettings | null> {
  try {
    const output = await runPhp(layout, install, {
      script: phpFileOf(layout.coreOf(install.wordpressVersion), 'site-settings.php'),
      enter,
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
      signal,
    });
    return parsePrinted(siteSettingsSchema, output);
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}
