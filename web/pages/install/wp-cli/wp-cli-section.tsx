import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, MainSection, Section } from '../../../components/page.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import { Command } from './command.tsx';
import { splitArguments } from './split-arguments.ts';
import styles from './wp-cli.module.css';

/** Runs WP-CLI in an install, and shows the latest commands with their outputs. */
export function WpCliSection({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  if (!mayWork || install.status !== 'active') {
    return (
      <MainSection>
        <Empty>
          {mayWork
            ? 'You can run WP-CLI when the install is active.'
            : 'You need permission to work on this install to run WP-CLI.'}
        </Empty>
      </MainSection>
    );
  }
  return <Console install={install} />;
}

function Console({ install }: { install: Install }) {
  const operations = useOperations(install.id);
  const queries = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  // Only this page knows the arguments, because the server deletes them: they can contain passwords.
  const [lines, setLines] = useState<ReadonlyMap<string, string>>(new Map());

  async function run(values: FormData) {
    const line = textOf(values, 'command').trim();
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/wp_cli', {
        params: { path: { install_id: install.id } },
        body: { args: splitArguments(line) },
      }),
    );
    if (operationId !== null) setLines((before) => new Map(before).set(operationId, line));
    showOperation(operationId, { busy: 'WP-CLI is running.', done: 'WP-CLI has ended.' });
    // The next command replaces this one, or Enter repeats it.
    input.current?.focus();
    input.current?.select();
    await queries.invalidateQueries({ queryKey: ['operation', install.id] });
  }

  return (
    <>
      <MainSection>
        <p>
          Runs a command of WP-CLI in this website, for 10 minutes at most. It runs once and cannot be undone,
          so make a backup before you change many things.
        </p>
        <Form
          submitLabel="Run"
          onSubmit={run}
          fieldOf={(name) => (name.startsWith('args') ? 'command' : name)}
        >
          <TextField
            ref={input}
            label="Command"
            name="command"
            required
            placeholder="plugin list"
            hint="With or without wp at the start. Put arguments with spaces in quotes. There is no shell, so pipes and variables do not work."
            autoCapitalize="none"
            autoComplete="off"
            autoCorrect="off"
            spellCheck={false}
          />
        </Form>
      </MainSection>
      <Section title="Latest commands">
        <Loaded query={operations} what="commands">
          {({ results }) => {
            const commands = results.filter(({ kind }) => kind === 'wordpress.cli');
            return commands.length === 0 ? (
              <Empty>No commands yet. Outputs appear here, and are kept for an hour.</Empty>
            ) : (
              <ul className={styles.commands}>
                {commands.map((operation) => (
                  <Command key={operation.id} operation={operation} line={lines.get(operation.id)} />
                ))}
              </ul>
            );
          }}
        </Loaded>
      </Section>
    </>
  );
}
