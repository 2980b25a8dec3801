/** The person's settings of the plugin, read live: `schema/plugin.json` says what they mean. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { HostOptions } from '../host';
import { t } from '../i18n';

export type Side = 'left' | 'right';
type Hear = () => void;

export class LabOptions {
  private settings: ISettingRegistry.ISettings | undefined;
  private readonly hearing = new Set<Hear>();

  get side(): Side {
    return this.settings?.composite.side === 'left' ? 'left' : 'right';
  }

  forPanel(): HostOptions {
    return { sendWithEnter: this.settings?.composite.sendWithEnter !== false };
  }

  hear(hear: (options: HostOptions) => void): () => void {
    return this.onChange(() => hear(this.forPanel()));
  }

  onChange(hear: Hear): () => void {
    this.hearing.add(hear);
    return () => void this.hearing.delete(hear);
  }

  /** Take the settings when they are there; until then, and without a registry, the defaults hold. */
  follow(settings: ISettingRegistry.ISettings): void {
    const take = (): void => {
      this.settings = settings;
      translate(settings.schema);
      this.hearing.forEach(hear => hear());
    };
    settings.changed.connect(take);
    take();
  }
}

/**
 * Say the schema's texts in the page's language. JupyterLab's server takes the texts of schemas from language packs
 * only, never from an extension's own catalogue; a schema fetched anew comes in English again, hence at each change.
 */
function translate(schema: ISettingRegistry.ISchema): void {
  const say = (node: { title?: string; description?: string }): void => {
    // Their English stands in the schema; the catalogue has the same sentences as keys.
    node.title &&= t(node.title);
    node.description &&= t(node.description);
  };
  say(schema);
  Object.values(schema.properties ?? {}).forEach(say);
}
