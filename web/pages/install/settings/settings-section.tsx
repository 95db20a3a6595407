import type { Install } from '../../../api/installs.ts';
import { useHasFeature, useMay } from '../../../session/session.ts';
import { CopyInstall } from './copy-install.tsx';
import { DeleteInstall } from './delete-install.tsx';
import { MoveInstall } from './move-install.tsx';
import { PhpLimits } from './php-limits.tsx';
import { PhpVersion } from './php-version.tsx';
import { WordpressUpgrades } from './wordpress-upgrades.tsx';

/** Changes of an install as a whole: PHP, upgrades, copies, its site, and its deletion. */
export function SettingsSection({ install }: { install: Install }) {
  const may = useMay(install.account.id);
  const has = useHasFeature();
  const isActive = install.status === 'active';
  return (
    <>
      {may('install.change') && install.php_version !== null && isActive && (
        <>
          {has('php') && <PhpVersion install={install} />}
          {has('php') && <PhpLimits install={install} />}
          {has('care') && <WordpressUpgrades install={install} />}
        </>
      )}
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
