import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useHas } from '../../../api/capabilities.ts';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { RadioGroup, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import { EVERYTHING } from '../backups/replacement.ts';
import { ReplacementConfirmation } from '../backups/replacement-confirmation.tsx';
import { CheckpointField } from '../backups/replacement-fields.tsx';
import { WhyNotOffered } from '../offered.tsx';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';
import { SshFields, sshSource } from './ssh-fields.tsx';

type Source =
  | { source: 'file'; path: string; site?: string }
  | { source: 'url'; url: string; site?: string }
  | ReturnType<typeof sshSource>;

interface Wanted {
  source: Source;
  checkpoint: boolean;
}

const SHOWN = 5;

/** Imports an existing website into this install, and shows the latest imports. */
export function ImportsSection({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  const imports =
    useOperations(install.id)
      .data?.results.filter(({ kind }) => kind === 'install.import')
      .slice(0, SHOWN) ?? [];
  return (
    <>
      {imports.length > 0 && (
        <Section title="Latest imports">
          <ul className={operationStyles.list} aria-live="polite">
            {imports.map((operation) => (
              <OperationItem key={operation.id} operation={operation} />
            ))}
          </ul>
        </Section>
      )}
      <Section title="Import a website">
        <p>
          Replaces this website by an existing one from an archive: <code>wp-content</code> and a dump of its
          database in a <code>.zip</code> or <code>.tar.gz</code>, a full backup of cPanel or Plesk, or a
          backup of All-in-One WP Migration, Duplicator, UpdraftPlus or Homeport.
        </p>
        {mayWork && install.status === 'active' ? (
          <ImportForm install={install} />
        ) : (
          <Empty>You need permission to work on this install to import a website.</Empty>
        )}
      </Section>
    </>
  );
}

function sourceOf(kind: string, values: FormData): Source {
  if (kind === 'ssh') return sshSource(values);
  const site = textOf(values, 'site').trim();
  const chosen = site === '' ? {} : { site };
  return kind === 'url'
    ? { source: 'url', url: textOf(values, 'url').trim(), ...chosen }
    : { source: 'file', path: textOf(values, 'path').trim(), ...chosen };
}

function ImportForm({ install }: { install: Install }) {
  const [kind, setKind] = useState<string>('file');
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const queries = useQueryClient();
  const has = useHas(install.id);

  async function start({ source, checkpoint }: Wanted) {
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/imports', {
        params: { path: { install_id: install.id } },
        body: { ...source, create_checkpoint: checkpoint },
      }),
    );
    await Promise.all(
      ['operation', 'backup'].map((topic) => queries.invalidateQueries({ queryKey: [topic, install.id] })),
    );
    showOperation(operationId, {
      busy: `Importing a website into ${install.name}.`,
      done: `Imported a website into ${install.name}.`,
    });
  }

  async function choose(values: FormData) {
    setWanted({
      source: sourceOf(kind, values),
      checkpoint: values.has('checkpoint'),
    });
  }

  return (
    <>
      <Form submitLabel="Continue" onSubmit={choose}>
        <RadioGroup
          label="Where the website is"
          name="source"
          value={kind}
          onValue={setKind}
          options={[
            { value: 'file', label: 'In an archive that I uploaded by SFTP' },
            { value: 'url', label: 'In an archive at a URL' },
            ...(has('imports_by_ssh') ? [{ value: 'ssh', label: 'On the old host, by SSH' }] : []),
          ]}
        />
        <WhyNotOffered installId={install.id} need="imports_by_ssh" />
        {kind === 'ssh' && <SshFields installId={install.id} />}
        {kind === 'url' && (
          <TextField
            key="url"
            label="URL of the archive"
            name="url"
            type="url"
            required
            pattern="https://.+"
            placeholder="https://"
            hint="A public address with https. It may contain a signature."
          />
        )}
        {kind === 'file' && (
          <TextField
            key="path"
            label="Path of the archive"
            name="path"
            required
            pattern="private/.+"
            defaultValue="private/website.zip"
            hint="Upload it into the folder private, or .private if that is the one you see by SFTP. Visitors cannot download it there. Delete it after the import."
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
        {kind !== 'ssh' && (
          <TextField
            label="Website in the archive"
            name="site"
            maxLength={255}
            placeholder="shop.example"
            hint="Only if the archive has several: its domain or its folder. If you leave this empty, the import lists them and changes nothing."
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
        <CheckpointField
          target={install.name}
          hint="Keeps its present state for 14 days, and puts it back if the imported website does not answer."
        />
      </Form>
      {wanted && (
        <ReplacementConfirmation
          target={install}
          parts={EVERYTHING}
          checkpoint={wanted.checkpoint}
          confirmLabel={`Replace ${install.name}`}
          onConfirm={() => start(wanted)}
          onClose={() => setWanted(null)}
        >
          This replaces the plugins, themes, uploads and the database of {install.name} with those of the
          imported website. The folder private and the version of WordPress stay.
        </ReplacementConfirmation>
      )}
    </>
  );
}
