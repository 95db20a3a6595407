import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useHas } from '../../../api/capabilities.ts';
import { hosting } from '../../../api/client.ts';
import { FormError, unwrapStarted } from '../../../api/failure.ts';
import { useEnvironmentsOfSite } from '../../../api/install-list.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { RadioGroup, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { showOperation } from '../../../components/toast.tsx';
import {
  EVERYTHING,
  hasDatabase,
  type Parts,
  partsLabel,
  partsOf,
  type ReplacedInstall,
  SCOPE_LABELS,
  SCOPES,
  scopesOf,
} from '../backups/replacement.ts';
import { ReplacementConfirmation } from '../backups/replacement-confirmation.tsx';

/** Makes a staging copy of an install in a site, or pushes one to production. */
export function Staging({ install, mayCreate }: { install: Install; mayCreate: boolean }) {
  const { data: inSite = [] } = useEnvironmentsOfSite(install.account.id, install.site?.id);
  if (install.site === null) return null;
  const production = inSite.find(({ environment }) => environment === 'production');
  const hasStaging = inSite.some(({ environment }) => environment === 'staging');
  if (production !== undefined && production.id !== install.id) {
    return production.status === 'active' ? <Push install={install} production={production} /> : null;
  }
  return hasStaging || !mayCreate ? null : <MakeStaging install={install} />;
}

function MakeStaging({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function make(values: FormData) {
    const name = textOf(values, 'name').trim();
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/staging', {
        params: { path: { install_id: install.id } },
        body: { name },
      }),
    );
    await Promise.all(
      ['install', 'operation'].map((topic) => queries.invalidateQueries({ queryKey: [topic] })),
    );
    setOpen(false);
    showOperation(operationId, {
      busy: `Copying ${install.name} into ${name}.`,
      done: `${name} is a copy of ${install.name}.`,
    });
    if (install.site !== null) go(`/sites/${install.site.id}`);
  }

  return (
    <Section title="Staging" actions={<Button onClick={() => setOpen(true)}>Make a staging copy</Button>}>
      <p>Creates a staging install in the same site, and copies {partsLabel(EVERYTHING, install)} into it.</p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Make a staging copy of ${install.name}`}
        description={
          hasDatabase(install)
            ? 'This website stays as it is. Addresses in the copied database get the name of the staging install.'
            : 'This website stays as it is.'
        }
      >
        <Form submitLabel="Make staging copy" onSubmit={make}>
          <TextField
            label="Name of the staging install"
            name="name"
            required
            defaultValue={`${install.name}-staging`.slice(0, 40)}
            hint="Lower-case letters, digits and hyphens. It never changes."
            autoCapitalize="none"
            spellCheck={false}
          />
        </Form>
      </Dialog>
    </Section>
  );
}

function Push({ install, production }: { install: Install; production: ReplacedInstall }) {
  const [open, setOpen] = useState(false);
  const [scope, setScope] = useState('');
  const [parts, setParts] = useState<Parts | null>(null);
  const has = useHas(install.id);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function choose() {
    const chosen = SCOPES.find((one) => one === scope);
    if (chosen === undefined) {
      const message = 'Choose what to push.';
      throw new FormError(message, [{ field: 'scope', message }]);
    }
    setOpen(false);
    setParts(partsOf(chosen));
  }

  async function push({ files, database }: Parts) {
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/push', {
        params: { path: { install_id: install.id } },
        body: { to: production.id, include_files: files, include_db: database },
      }),
    );
    await Promise.all(
      ['operation', 'backup'].map((topic) => queries.invalidateQueries({ queryKey: [topic, production.id] })),
    );
    showOperation(operationId, {
      busy: `Pushing ${install.name} to ${production.name}.`,
      done: `Pushed ${install.name} to ${production.name}.`,
    });
    go(`/installs/${production.id}/backups`);
  }

  return (
    <Section title="Push" actions={<Button onClick={() => setOpen(true)}>Push to production</Button>}>
      <p>
        Replaces parts of {production.name}, the production install of this site, with those of {install.name}
        . A checkpoint is made first.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Push ${install.name} to production`}
        description="Nothing is replaced before you confirm it in the next step."
      >
        <Form submitLabel="Continue" onSubmit={choose}>
          <RadioGroup
            label="What to push"
            name="scope"
            value={scope}
            onValue={setScope}
            options={scopesOf(install, has('backup_parts')).map((value) => ({
              value,
              label: SCOPE_LABELS[value],
              ...(value === 'files'
                ? {}
                : { hint: `Orders, comments and users since the copy are lost in ${production.name}.` }),
            }))}
          />
        </Form>
      </Dialog>
      {parts && (
        <ReplacementConfirmation
          target={production}
          parts={parts}
          checkpoint
          confirmLabel={`Replace ${production.name}`}
          onConfirm={() => push(parts)}
          onClose={() => setParts(null)}
        >
          This replaces {partsLabel(parts, install)} of {production.name} with those of {install.name}.
        </ReplacementConfirmation>
      )}
    </Section>
  );
}
