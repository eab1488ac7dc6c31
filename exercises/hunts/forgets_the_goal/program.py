"""What a ReAct agent sends to its model, when the conversation has become too long."""


def shortened(messages, most):
    """Return the messages that are sent, `most` of them at the most (2 or more), in their order.

    `messages` are pairs of who says it and what. First come the rules and the goal, which are always sent. Then come turns:
    each begins with what the "model" wants to do, and has the answers of one "tool" or several behind it. An answer without
    its question is refused, and so is a question without its answers: a turn is sent whole or not at all. As many turns are
    sent as fit, the latest ones, without a gap.
    """
    return messages[-most:]


TRAINS = [("rules", "Call tools, one turn at a time."), ("goal", "Find a train to Graz that arrives before noon.")]
TRAINS += [("model", "stations of Vienna"), ("tool", "Hbf, Meidling, West")]
TRAINS += [("model", "trains from Hbf, and from Meidling"), ("tool", "6:58, 8:58"), ("tool", "7:05, 9:05")]
TRAINS += [("model", "arrival of the 8:58"), ("tool", "11:33")]

if __name__ == "__main__":
    for who, text in shortened(TRAINS, 6):
        print(f"{who}: {text}")
