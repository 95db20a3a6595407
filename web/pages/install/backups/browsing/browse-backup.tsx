import { useState } from 'react';
import { useBackup } from '../../../../api/backup-contents.ts';
import { useHas } from '../../../../api/capabilities.ts';
import type { Install } from '../../../../api/installs.ts';
import { Button, ButtonLink } from '../../../../components/button.tsx';
import { Loaded } from '../../../../components/loaded.tsx';
import { MainSection } from '../../../../components/page.tsx';
import { useQueryParameters } from '../../../../components/query-parameters.ts';
import { Tabs } from '../../../../components/tabs.tsx';
import { Time } from '../../../../components/time.tsx';
import { truncate } from '../../../../components/truncate.ts';
import { useMay } from '../../../../session/session.ts';
import { hasDatabase } from '../replacement.ts';
import styles from './browsing.module.css';
import { type Chosen, chosenCount, chosenLabel, NOTHING } from './chosen.ts';
import { FilesOfBackup } from './files-of-backup.tsx';
import { RestoreChosen } from './restore-chosen.tsx';
import { TablesOfBackup } from './tables-of-backup.tsx';

const LONGEST_DESCRIPTION = 80;

/** The files and tables of a backup, to download one or to restore some. */
export function BrowseBackup({ install, backupId }: { install: Install; backupId: string }) {
  const address = useQueryParameters();
  const query = useBackup(install.id, backupId);
  const has = useHas(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [chosen, setChosen] = useState<Chosen>(NOTHING);
  const [isRestoring, setIsRestoring] = useState(false);
  const showsTables = address.get('show') === 'tables';
  const hasTables = hasDatabase(install) && has('backup_tables');
  const of = { installId: install.id, backupId };
  const back = address.addressWith({ backup: '', show: '', folder: '', page: '' });
  return (
    <Loaded query={query} what="the backup">
      {(backup) => {
        const described = truncate(backup.description ?? 'Backup', LONGEST_DESCRIPTION);
        return (
          <MainSection
            title={`Content of "${described}"`}
            intro={
              <p>
                "{described}", backup of {install.name}
                {backup.create_time !== null && (
                  <>
                    {' '}
                    of <Time at={backup.create_time} exact />
                  </>
                )}
                . {mayWork ? 'Download a file, or select what to restore.' : 'You can look, but not restore.'}
              </p>
            }
            actions={<ButtonLink href={back}>All backups</ButtonLink>}
          >
            {hasTables && (
              <Tabs
                label="Content of the backup"
                items={[
                  {
                    label: 'Files',
                    href: address.addressWith({ show: '', page: '' }),
                    current: !showsTables,
                  },
                  {
                    label: 'Tables',
                    href: address.addressWith({ show: 'tables', page: '' }),
                    current: showsTables,
                  },
                ]}
              />
            )}
            {showsTables && hasTables ? (
              <TablesOfBackup of={of} chosen={chosen} onChoose={mayWork ? setChosen : null} />
            ) : (
              <FilesOfBackup of={of} chosen={chosen} onChoose={mayWork ? setChosen : null} />
            )}
            {chosenCount(chosen) > 0 && (
              <section className={styles.bar} aria-label="Selected items">
                <span aria-live="polite">{chosenLabel(chosen)} selected</span>
                <Button small variant="quiet" onClick={() => setChosen(NOTHING)}>
                  Clear
                </Button>
                <Button variant="primary" onClick={() => setIsRestoring(true)}>
                  Restore selected
                </Button>
              </section>
            )}
            {isRestoring && (
              <RestoreChosen
                install={install}
                backup={{ id: backupId, described }}
                chosen={chosen}
                onRestored={() => setChosen(NOTHING)}
                onClose={() => setIsRestoring(false)}
              />
            )}
          </MainSection>
        );
      }}
    </Loaded>
  );
}
