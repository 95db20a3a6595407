import { useState } from 'react';
import { type Connection, useConnection, useInstallsEverywhere } from '../../../api/installs.ts';
import { commandLine } from '../../../components/command-line.ts';
import { Copyable } from '../../../components/copy.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { sortRows } from '../../../components/sort-rows.ts';
import styles from './ssh-keys.module.css';

const MOST_SHOWN = 20;

/** The connection commands of each install, loaded when the user expands it. */
export function ConnectSection() {
  const installs = useInstallsEverywhere();
  const [search, setSearch] = useState('');
  return (
    <Section title="Connect to an install">
      <p>Each of your keys works for all installs that you have access to.</p>
      <Loaded query={installs} what="installs">
        {(all) => {
          const named = all.filter(({ name }) => name.includes(search.trim().toLowerCase()));
          const found = sortRows(named, ({ name }) => name, 'ascending');
          return all.length === 0 ? (
            <Empty>You have no installs yet.</Empty>
          ) : (
            <>
              <search>
                <TextField
                  label="Search installs"
                  name="search"
                  type="search"
                  value={search}
                  onChange={(event) => setSearch(event.currentTarget.value)}
                />
              </search>
              <ul className={styles.installs}>
                {found.slice(0, MOST_SHOWN).map(({ id, name }) => (
                  <li key={id}>
                    <Install id={id} name={name} />
                  </li>
                ))}
              </ul>
              <p className={styles.soft} role="status">
                {found.length === 0 && 'No installs match.'}
                {found.length > MOST_SHOWN && `${found.length - MOST_SHOWN} more. Search to find them.`}
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
