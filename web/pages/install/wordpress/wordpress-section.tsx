import { useHas } from '../../../api/capabilities.ts';
import type { Install } from '../../../api/installs.ts';
import { useWordPress, type WordPress } from '../../../api/wordpress.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { useMay } from '../../../session/session.ts';
import { OfferedSection, WhyNotOffered } from '../offered.tsx';
import { AutomaticUpdates } from '../updates/automatic-updates.tsx';
import { Updates } from '../updates/updates.tsx';
import { Administrators } from './administrators.tsx';
import { Core } from './core.tsx';
import { Plugins } from './plugins.tsx';
import { SiteHealthSection } from './site-health.tsx';
import { Themes } from './themes.tsx';

/** The contents of the WordPress of an install. */
export function WordPressSection({ install }: { install: Install }) {
  const wordpress = useWordPress(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const has = useHas(install.id);
  // The plugins of a network are for its own administrators.
  const mayChange = ({ multisite }: WordPress) =>
    has('wordpress_changes') && mayWork && install.status === 'active' && !multisite;
  return (
    <Loaded query={wordpress} what="WordPress">
      {(known) => (
        <>
          <Problems wordpress={known} />
          <Core install={install} wordpress={known} />
          <OfferedSection installId={install.id} need="wordpress_updates" title="Updates">
            <Updates install={install} />
          </OfferedSection>
          <WhyNotOffered installId={install.id} need="wordpress_changes" />
          {known.plugins !== null && (
            <Plugins installId={install.id} plugins={known.plugins} mayChange={mayChange(known)} />
          )}
          {known.themes !== null && (
            <Themes installId={install.id} themes={known.themes} mayChange={mayChange(known)} />
          )}
          {known.administrators !== null && <Administrators administrators={known.administrators} />}
          {known.read_at !== null && <SiteHealthSection health={known.site_health} />}
          <OfferedSection installId={install.id} need="wordpress_updates" title="Automatic updates">
            <AutomaticUpdates install={install} />
          </OfferedSection>
        </>
      )}
    </Loaded>
  );
}

function Problems({ wordpress }: { wordpress: WordPress }) {
  const { error, updates_error, read_at, is_complete } = wordpress;
  return (
    <>
      {error !== null && (
        <Notice tone="bad" title="The website could not be read">
          <p>{error}</p>
          {read_at !== null && <p>This page shows what was read before.</p>}
        </Notice>
      )}
      {error === null && read_at === null && (
        <Notice>The website has not been read yet. It is read within minutes after its creation.</Notice>
      )}
      {error === null && updates_error !== null && (
        <Notice title="WordPress could not ask for updates">
          <p>{updates_error}</p>
          <p>This page shows the updates that it knew before.</p>
        </Notice>
      )}
      {read_at !== null && !is_complete && (
        <Notice>
          Not everything is listed: at most 500 plugins, 200 themes and 200 administrators are, and none with
          unusual file names.
        </Notice>
      )}
    </>
  );
}
