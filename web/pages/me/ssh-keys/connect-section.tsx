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

/** What to type to reach each install; loaded for those that somebody opens. */
export function ConnectSection() {
  const installs = useInstallsEverywhere();
  const [search, setSearch] = useState('');
  return (
    <Section title="Connect to an install">
      <p>Each of your keys opens all installs that you may work on.</p>
      <Loaded query={installs} what="installs">
        {(all) => {
          const named = all.filter(({ name }) => name.includes(search.trim().toLowerCase()));
          const found = sortRows(named, ({ name }) => name, 'ascending');
          return all.length === 0 ? (
            <Empty>There is no install yet.</Empty>
          ) : (
            <>
              <search>
                <TextField
                  label="Search the installs"
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
                {found.length === 0 && 'No install has a name like this.'}
                {found.length > MOST_SHOWN && `${found.length - MOST_SHOWN} more: search for them.`}
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
      <Loaded query={connection} what={`how ${name} is reached`}>
        {(reached) =>
          reached === null ? (
            <p>Its host has not told yet where it listens. Look again in a minute.</p>
          ) : (
            linesFor(reached).map(({ name: kind, line }) => (
              <div key={kind}>
                <p>{kind}</p>
                <Copyable text={line} what={`the line for ${kind} of ${name}`} />
              </div>
            ))
          )
        }
      </Loaded>
    </div>
  );
}

const linesFor = (connection: Connection): { name: string; line: string }[] => [
  { name: 'Files (SFTP)', line: commandLine('sftp', connection) },
  ...(connection.shell ? [{ name: 'Shell (SSH)', line: commandLine('ssh', connection) }] : []),
];
