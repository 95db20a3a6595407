import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import {
  type BackupEntry,
  backupFileLink,
  ENTRIES_A_PAGE,
  useBackupFiles,
} from '../../../../api/backup-contents.ts';
import { Button } from '../../../../components/button.tsx';
import { formatBytes } from '../../../../components/bytes.ts';
import { Empty } from '../../../../components/page.tsx';
import { useQueryParameters } from '../../../../components/query-parameters.ts';
import { type Column, Table, usePage } from '../../../../components/table.tsx';
import { Time } from '../../../../components/time.tsx';
import { showFailure } from '../../../../components/toast.tsx';
import styles from './browsing.module.css';
import { type Chosen, chosenAbove } from './chosen.ts';
import { LoadedContent } from './first-reading.tsx';

interface OfBackup {
  of: { installId: string; backupId: string };
  chosen: Chosen;
  /** Null for users who may only look. */
  onChoose: ((chosen: Chosen) => void) | null;
}

/** One folder of a backup at a time. */
export function FilesOfBackup({ of, chosen, onChoose }: OfBackup) {
  const address = useQueryParameters();
  const folder = address.get('folder');
  const [page] = usePage();
  const query = useBackupFiles(of, folder, page);
  const hrefOf = (path: string) => address.addressWith({ folder: path, page: '' });
  const inChosen = chosenAbove(chosen.paths, `${folder}/x`);
  const columns: readonly Column<BackupEntry>[] = [
    {
      id: 'name',
      header: 'Name',
      rowHeader: true,
      cell: ({ name, path, type, link_target }) => (
        <span className={styles.name}>
          {type === 'folder' ? <Link href={hrefOf(path)}>{name}/</Link> : name}
          {link_target !== null && <span className={styles.soft}> (link to {link_target})</span>}
        </span>
      ),
    },
    {
      id: 'size',
      header: 'Size',
      cell: ({ size_bytes, type }) =>
        size_bytes === null ? <span className={styles.soft}>{type}</span> : formatBytes(size_bytes),
    },
    {
      id: 'changed',
      header: 'Changed',
      optional: true,
      cell: ({ modified_time }) => (modified_time === null ? '' : <Time at={modified_time} exact />),
    },
    ...(onChoose === null
      ? []
      : [
          {
            id: 'download',
            header: 'Download',
            cell: ({ name, path, type }: BackupEntry) =>
              type === 'file' && <Download of={of} path={path} name={name} />,
          },
        ]),
  ];
  return (
    <>
      <Folders folder={folder} hrefOf={hrefOf} />
      <LoadedContent query={query} what="the folder">
        {({ results, count }) =>
          count === 0 ? (
            <Empty>
              {folder === '' ? 'The backup has no files.' : 'This folder is empty in the backup.'}
            </Empty>
          ) : (
            <>
              {inChosen !== null && <p>The folder "{inChosen}" is selected, with everything in it.</p>}
              <Table
                caption={folder === '' ? 'Files of the backup' : `Files in ${folder}`}
                columns={columns}
                rows={results}
                rowKey={({ path }) => path}
                count={count}
                pageSize={ENTRIES_A_PAGE}
                selection={
                  onChoose === null || inChosen !== null
                    ? undefined
                    : {
                        selected: chosen.paths,
                        onSelect: (paths) => onChoose({ ...chosen, paths }),
                        nameOf: ({ name }) => name,
                        // Names with control characters can be restored with their folder only.
                        isOffered: ({ name }) => !/\p{Cc}/u.test(name),
                      }
                }
              />
            </>
          )
        }
      </LoadedContent>
    </>
  );
}

/** The folders above the present one. */
function Folders({ folder, hrefOf }: { folder: string; hrefOf(path: string): string }) {
  const names = folder === '' ? [] : folder.split('/');
  return (
    <nav aria-label="Folder">
      <ol className={styles.path}>
        <li>
          {names.length === 0 ? (
            <span aria-current="page">All files</span>
          ) : (
            <Link href={hrefOf('')}>All files</Link>
          )}
        </li>
        {names.map((name, index) => {
          const path = names.slice(0, index + 1).join('/');
          return (
            <li key={path}>
              {path === folder ? (
                <span aria-current="page">{name}</span>
              ) : (
                <Link href={hrefOf(path)}>{name}</Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Download({ of, path, name }: { of: OfBackup['of']; path: string; name: string }) {
  const download = useMutation({
    mutationFn: () => backupFileLink(of, path),
    // An attachment: the page stays.
    onSuccess: (uri) => window.location.assign(uri),
    onError: showFailure,
  });
  return (
    <Button
      small
      aria-label={`Download ${name}`}
      pending={download.isPending}
      onClick={() => download.mutate()}
    >
      Download
    </Button>
  );
}
