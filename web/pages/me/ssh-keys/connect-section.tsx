import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Connection, useConnection, useFirstInstallsEverywhere } from '../../../api/installs.ts';
import { searchFor } from '../../../api/search.ts';
import { commandLine } from '../../../components/command-line.ts';
import { Copyable } from '../../../components/copy.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { SEARCH_FAILED, useSearchText } from '../../../components/search-text.ts';
import styles from './ssh-keys.module.css';

/** The connection commands of each install, loaded when the user expands it. */
export function ConnectSection() {
  const first = useFirstInstallsEverywhere();
  const { typed, setTyped, asked } = useSearchText();
  const { data: found, isLoadingError: hasFailed } = useQuery(searchFor(asked));
  return (
    <Section title="Connect to an install">
      <p>Each of your keys works for all installs that you have access to.</p>
      <Loaded query={first} what="installs">
        {({ count, results }) => {
          const isSearch = asked !== '' && (found !== undefined || hasFailed);
          const matching = found?.results.filter(({ kind }) => kind === 'install') ?? [];
          const shown = isSearch ? matching : results;
          return count === 0 ? (
            <Empty>You have no installs yet.</Empty>
          ) : (
            <>
              <search>
                <TextField
                  label="Search installs"
                  name="search"
                  type="search"
                  value={typed}
                  onChange={(event) => setTyped(event.currentTarget.value)}
                />
              </search>
              <ul className={styles.installs}>
                {shown.map(({ id, name }) => (
                  <li key={id}>
                    <Install id={id} name={name} />
                  </li>
                ))}
              </ul>
              <p className={styles.soft} role="status">
                {isSearch && hasFailed && SEARCH_FAILED}
                {shown.length === 0 && !hasFailed && 'No installs match.'}
                {!isSearch && count > shown.length && `${count - shown.length} more. Search to find them.`}
                {isSearch && found?.more && shown.length > 0 && 'Type more of the name to find others.'}
              </p>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Install({ id, name }: { id: string; name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {open && <Lines installId={id} name={name} />}
    </details>
  );
}

function Lines({ installId, name }: { installId: string; name: string }) {
  const connection = useConnection(installId);
  return (
    <div className={styles.lines}>
      <Loaded query={connection} what={`the connection details of ${name}`}>
        {(reached) =>
          reached === null ? (
            <p>The host has not reported its address yet. Try again in a minute.</p>
          ) : (
            linesFor(reached).map(({ name: kind, line }) => (
              <div key={kind}>
                <p>{kind}</p>
                <Copyable text={line} what={`the ${kind} command of ${name}`} />
              </div>
            ))
          )
        }
      </Loaded>
    </div>
  );
}

const linesFor = (connection: Connection): { name: string; line: string }[] => [
  { name: 'SFTP', line: commandLine('sftp', connection) },
  ...(connection.shell ? [{ name: 'SSH', line: commandLine('ssh', connection) }] : []),
];
