import { readFileSync } from 'node:fs';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { afterEach, describe, expect, it } from 'vitest';
import { setLanguage } from '../../src/i18n';
import { LabOptions } from '../../src/lab/options';

/** A plugin's settings as the registry gives them; `change` is what the person does in the settings editor. */
function settings() {
  const hearing: (() => void)[] = [];
  const found = {
    composite: {} as Record<string, unknown>,
    schema: JSON.parse(readFileSync('schema/plugin.json', 'utf8')) as ISettingRegistry.ISchema,
    changed: { connect: (hear: () => void) => hearing.push(hear) }
  };
  const change = (composite: Record<string, unknown>): void => {
    found.composite = composite;
    hearing.forEach(hear => hear());
  };
  return { found: found as unknown as ISettingRegistry.ISettings, change };
}

afterEach(() => setLanguage('en'));

describe('the options', () => {
  it('have defaults before there are settings', () => {
    expect(new LabOptions().forPanel()).toEqual({ sendWithEnter: true });
    expect(new LabOptions().side).toBe('right');
  });

  it('are told to panels when the person changes them, until the panel has left', () => {
    const { found, change } = settings();
    const options = new LabOptions();
    options.follow(found);
    const heard: unknown[] = [];
    const leave = options.hear(now => heard.push(now.sendWithEnter));
    change({ sendWithEnter: false, side: 'left' });
    expect(heard).toEqual([false]);
    expect(options.side).toBe('left');

    leave();
    change({});
    expect(heard).toEqual([false]);
  });

  it('have their texts in the language of the page', () => {
    setLanguage('zh-CN');
    const { found } = settings();
    new LabOptions().follow(found);
    expect(found.schema.properties?.sendWithEnter.title).toBe('按 Enter 发送');
  });
});
