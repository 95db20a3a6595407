import type { Install } from '../../../api/installs.ts';
import { useMay } from '../../../session/session.ts';
import { OfferedSection } from '../offered.tsx';
import { CopyInstall } from './copy-install.tsx';
import { DeleteInstall } from './delete-install.tsx';
import { MoveInstall } from './move-install.tsx';
import { PhpLimits } from './php-limits.tsx';
import { RestartPhp } from './restart-php.tsx';
import { RunningPhp } from './running-php.tsx';
import { WordpressUpgrades } from './wordpress-upgrades.tsx';

/** Changes of an install as a whole: PHP, upgrades, copies, its site, and its deletion. */
export function SettingsSection({ install }: { install: Install }) {
  const may = useMay(install.account.id);
  const isActive = install.status === 'active';
  return (
    <>
      {may('install.change') && isActive && (
        <>
          <RunningPhp install={install} />
          <OfferedSection installId={install.id} need="php_limits" title="PHP limits">
            <PhpLimits install={install} />
          </OfferedSection>
          <OfferedSection installId={install.id} need="wordpress_updates" title="WordPress upgrades">
            <WordpressUpgrades install={install} />
          </OfferedSection>
        </>
      )}
      {may('install.work') && install.php_version !== null && isActive && <RestartPhp install={install} />}
      {may('install.work') && isActive && <CopyInstall install={install} />}
      {may('install.change') && (
        <>
          <MoveInstall install={install} />
          <DeleteInstall install={install} />
        </>
      )}
    </>
  );
}
