import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useRef, useState } from 'react';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Install } from '../../api/installs.ts';
import { LONGEST_SITE_NAME } from '../../api/sites.ts';
import { type AccountTag, useTags } from '../../api/tags.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { EnvironmentField } from '../../components/environment-field.tsx';
import { environmentOf } from '../../components/environments.ts';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { onDemand } from '../../components/on-demand.ts';
import { MOST_TAGS_OF_SITE } from '../../components/tag-names.ts';
import { InstallNameField, PhpField } from '../site/create-install.tsx';
import { installNameError } from '../site/install-name.ts';
import { RuntimeField, runtimeOf } from '../site/runtime-field.tsx';
import { StepContent, Steps } from './steps.tsx';
import { suggestedName } from './suggested-name.ts';

const NEW_SITE = { installs: [] };
const NO_TAGS: readonly AccountTag[] = [];

const TagsField = onDemand(
  () => import('../../components/tags-field.tsx'),
  (module) => module.TagsField,
);

interface PlannedSite {
  name: string;
  tags: readonly string[];
}

/** The first two steps: the name of the site, and its first install. Nothing is created before the second is submitted. */
export function PlanSite({ accountId, onCreated }: { accountId: string; onCreated(install: Install): void }) {
  const [step, setStep] = useState<'Name' | 'Environment'>('Name');
  const [isFirst, setIsFirst] = useState(true);
  const [name, setName] = useState('');
  const [installName, setInstallName] = useState('');
  const [tags, setTags] = useState<readonly string[]>([]);
  const { data: known = NO_TAGS } = useTags(accountId);
  const create = useCreation(accountId);
  const show = (next: typeof step) => {
    setIsFirst(false);
    setStep(next);
  };

  if (step === 'Name') {
    return (
      <>
        <Steps current="Name" />
        <StepContent key="name" title="What is the site called?" isFirst={isFirst}>
          <Form
            submitLabel="Continue"
            actions={<ButtonLink href={`/accounts/${accountId}/sites`}>Cancel</ButtonLink>}
            onSubmit={async (values) => {
              const given = textOf(values, 'name').trim();
              // A name that was typed stays.
              if (installName === suggestedName(name)) setInstallName(suggestedName(given));
              setName(given);
              show('Environment');
            }}
          >
            <TextField
              label="Name"
              name="name"
              hint="A site is one website with its environments. You can change the name later."
              required
              pattern=".*\S.*"
              maxLength={LONGEST_SITE_NAME}
              autoComplete="off"
              defaultValue={name}
            />
            <Suspense fallback={null}>
              <TagsField
                label="Tags"
                name="tags"
                hint={`Optional, at most ${MOST_TAGS_OF_SITE}. They group sites in lists.`}
                value={tags}
                onChange={setTags}
                suggestions={known.map((tag) => tag.name)}
                mayCreate
              />
            </Suspense>
          </Form>
        </StepContent>
      </>
    );
  }
  const error = installNameError(installName);
  return (
    <>
      <Steps current="Environment" />
      <StepContent key="environment" title={`Where does ${name} run first?`}>
        <Form
          submitLabel="Create site"
          disabled={error !== null}
          actions={<Button onClick={() => show('Name')}>Back</Button>}
          onSubmit={async (values) => onCreated(await create({ name, tags }, installName, values))}
        >
          <EnvironmentField site={NEW_SITE} preferred="production" />
          <InstallNameField name={installName} error={error} onChange={setInstallName} />
          <RuntimeField />
          <PhpField />
        </Form>
      </StepContent>
    </>
  );
}

/** Returns a function that creates the site and its install. If only the install fails, the next attempt uses the same site. */
function useCreation(accountId: string) {
  const queries = useQueryClient();
  const created = useRef<{ id: string; planned: PlannedSite }>(null);

  async function site(planned: PlannedSite): Promise<string> {
    const body = { name: planned.name, tags: [...planned.tags] };
    const known = created.current;
    if (known === null) {
      const { id } = await unwrap(hosting.POST('/sites', { body: { ...body, account_id: accountId } }));
      created.current = { id, planned };
      return id;
    }
    if (known.planned.name !== planned.name || known.planned.tags !== planned.tags) {
      await unwrap(hosting.PATCH('/sites/{site_id}', { params: { path: { site_id: known.id } }, body }));
      created.current = { id: known.id, planned };
    }
    return known.id;
  }

  return async (planned: PlannedSite, installName: string, values: FormData): Promise<Install> => {
    const php = textOf(values, 'php_version');
    const runtime = runtimeOf(textOf(values, 'runtime'));
    const siteId = await site(planned);
    try {
      return await unwrap(
        hosting.POST('/installs', {
          body: {
            name: installName,
            account_id: accountId,
            site_id: siteId,
            environment: environmentOf(textOf(values, 'environment')),
            ...(php === '' ? {} : { php_version: php }),
            ...(runtime === null ? {} : { runtime }),
          },
        }),
      );
    } finally {
      for (const topic of ['site', 'install'])
        void queries.invalidateQueries({ queryKey: [topic, accountId] });
    }
  };
}
