/** What goes out with a message, as the protocol wants it and as the message shows it. */
import type { Metadata } from '../protocol';
import type { Attachments, ContextRow, ModelChoice } from './types';

export const MAX_SELECTIONS = 8;

export function hasAny(attachments: Partial<Attachments>): boolean {
  const { skills, connectors, context, images } = attachments;
  return [skills, connectors, context, images].some(rows => rows !== undefined && rows.length > 0);
}

/** Skills first when there are too many: the server refuses more than eight of both together. */
export function metadata(ref: string, attachments: Partial<Attachments>, model: ModelChoice | undefined): Metadata {
  const skills = (attachments.skills ?? []).slice(0, MAX_SELECTIONS);
  const connectors = (attachments.connectors ?? []).slice(0, MAX_SELECTIONS - skills.length);
  const texts = (attachments.context ?? []) as NonNullable<Metadata['context']>;
  const pictures = (attachments.images ?? []).map(image => ({
    kind: 'image' as const,
    label: image.label,
    text: '',
    data_url: image.dataUrl
  }));
  const context = [...texts.map(({ kind, label, text }) => ({ kind, label, text })), ...pictures];
  return {
    ref,
    ...(model && { llm: model }),
    ...(skills.length > 0 && { mentioned_skills: skills }),
    ...(connectors.length > 0 && { selected_mcp_connectors: connectors }),
    ...(context.length > 0 && { context })
  };
}

export function contextRows(attachments: Partial<Attachments>): ContextRow[] {
  return [
    ...(attachments.context ?? []).map(({ kind, label, text }) => ({ kind, label, chars: text.length })),
    ...(attachments.images ?? []).map(({ label }) => ({ kind: 'image', label }))
  ];
}
