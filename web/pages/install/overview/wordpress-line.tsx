import { Link } from 'wouter';
import type { Install } from '../../../api/installs.ts';
import { useWordPress } from '../../../api/wordpress.ts';
import { waitingUpdates } from '../wordpress/waiting-updates.ts';

/** The version of WordPress, and the updates that wait, with a link to them. */
export function WordPressLine({ install }: { install: Install }) {
  const { data } = useWordPress(install.id);
  const waiting =
    data === undefined
      ? null
      : waitingUpdates({
          core: data.core,
          plugin_updates: data.plugins.filter(hasUpdate).length,
          theme_updates: data.themes.filter(hasUpdate).length,
        });
  return (
    <>
      {install.wp_version}
      {waiting !== null && (
        <>
          {' '}
          · <Link href={`/installs/${install.id}/wordpress`}>Updates: {waiting}</Link>
        </>
      )}
    </>
  );
}

const hasUpdate = ({ update }: { update: object | null }) => update !== null;
