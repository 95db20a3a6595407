import { PermanentHostError } from '../../contract/errors.ts';
import type { Host } from '../../contract/host.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { LoginRefused } from '../../contract/wordpress-login.ts';
import { refusalOfEmbedded } from '../../policy/capabilities.ts';
import { blamingWebsite } from './broken-website.ts';
import type { EmbeddedWordPress } from './embedded-wordpress.ts';
import type { SiteFacts } from './site.ts';

const RESTORING: LoginRefused = {
  refused: 'website',
  reason: 'This website is being restored. Try again in a minute.',
};
const NO_PHP_TO_RESTART = 'This website consists of files, without PHP.';

type WordPressOperations = Pick<
  Host,
  'createDatabaseLink' | 'createLogin' | 'readMail' | 'replaceUrls' | 'restartPhp' | 'runWpCli'
>;

/** Operations of users on the WordPress of an install. `requireWordPress` returns null if its website consists of files. */
export function createWordPressOperations(
  requireWordPress: (install: InstallRef) => (EmbeddedWordPress & { facts: SiteFacts }) | null,
): WordPressOperations {
  return {
    async replaceUrls(install, signal) {
      const found = requireWordPress(install);
      // Files are what the customer uploaded.
      if (found !== null) await blamingWebsite(found.sites.replaceUrls(install, found.facts, signal));
    },

    async restartPhp(install) {
      const found = requireWordPress(install);
      if (found === null) throw new PermanentHostError(NO_PHP_TO_RESTART);
      // The next request starts another process.
      await found.php.stop(install.id);
    },

    async createLogin(install, user) {
      const found = requireWordPress(install);
      if (found === null) {
        return { refused: 'website', reason: refusalOfEmbedded('wordpress_login', 'static') };
      }
      if (found.php.isHeld(install.id)) return RESTORING;
      const made = await found.createLogin({ ...install, facts: found.facts }, user);
      // It may have begun meanwhile.
      return 'refused' in made && found.php.isHeld(install.id) ? RESTORING : made;
    },

    async createDatabaseLink(install) {
      const found = requireWordPress(install);
      if (found === null) {
        return { refused: 'website', reason: refusalOfEmbedded('database_access', 'static') };
      }
      return found.createDatabaseLink({ ...install, facts: found.facts });
    },

    async runWpCli(install, args, signal) {
      const found = requireWordPress(install);
      if (found !== null) return found.wpCli.run(install, found.facts, args, signal);
      return { refused: 'website', reason: refusalOfEmbedded('wp_cli', 'static') };
    },

    async readMail(install) {
      const found = requireWordPress(install);
      if (found !== null) return (await found.mail()).read(install, found.facts.mailsPerHour);
      return { refused: 'website', reason: refusalOfEmbedded('mail_limits', 'static') };
    },
  };
}
