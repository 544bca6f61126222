/** The rules with which a repository begins. */
export const firstRules = `# Which commands need approval, and which never run. All rule files apply together, and the strictest rule wins. The rules of a repository that
# isn't trusted can only forbid and ask. Try one: agent policy check -- 'git push origin main'
#
# decision: "allow", "prompt" (ask; refuse if nobody can answer), "forbidden"

prefix_rule(
    pattern = ["git", "push"],
    decision = "prompt",
    justification = "Publishing is a person's decision.",
    match = ["git push origin main"],
    not_match = ["git pull"],
)

# prefix_rule(
#     pattern = ["npm", "install"],
#     decision = "forbidden",
#     justification = "Dependencies are added by a person: say which one is needed, and why.",
# )
`
